// The console's API. Every refusal becomes a Refused with the problem that was answered.

const TOKEN = "partita-token";

export class Refused extends Error {
  constructor(status, problem) {
    super(problem.detail ?? "The server does not answer.");
    this.status = status;
    this.hint = problem.hint ?? "";
    this.fields = problem.errors ?? [];
  }
}

export const token = {
  get: () => sessionStorage.getItem(TOKEN) ?? "",
  set: (value) => sessionStorage.setItem(TOKEN, value.trim()),
  forget: () => sessionStorage.removeItem(TOKEN),
};

export const services = () => ask("/console/api/services");
export const live = () => ask("/console/api/live");

export function attempt(wanted) {
  const headers = { "Content-Type": "application/json", Authorization: `Bearer ${token.get()}` };
  return ask("/console/api/attempts", { method: "POST", headers, body: JSON.stringify(wanted) });
}

async function ask(address, request = {}) {
  const response = await fetch(address, request).catch(() => { throw new Refused(0, {}); });
  const body = await response.json().catch(() => ({}));
  if (!response.ok) throw new Refused(response.status, body);
  return body;
}
