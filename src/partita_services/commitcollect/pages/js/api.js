// The service's API. What it refuses is an error that says why, and what to do.

export class Refused extends Error {
  constructor(status, problem) {
    super(problem.detail ?? "The service cannot be reached.");
    this.status = status;
    this.code = problem.code;
    this.hint = problem.hint ?? "";
    this.problem = problem;
  }
}

async function call(method, path, body, headers = {}) {
  const options = { method, headers, credentials: "same-origin" };
  if (body !== undefined) {
    options.body = JSON.stringify(body);
    headers["Content-Type"] = "application/json";
  }
  let response;
  try {
    response = await fetch(path, options);
  } catch {
    throw new Refused(0, {});
  }
  const text = await response.text();
  const answer = text ? JSON.parse(text) : null;
  if (!response.ok) throw new Refused(response.status, answer ?? {});
  return answer;
}

const milestone = (id) => `api/milestones/${encodeURIComponent(id)}`;

export const me = () => call("GET", "api/me");
export const models = async () => (await call("GET", "api/models")).items;
export const milestones = async () => (await call("GET", "api/milestones?limit=100")).items;
export const milestoneNow = (id) => call("GET", milestone(id));
export const workouts = (cursor) => call("GET", `api/workouts?limit=10${cursor ? `&cursor=${encodeURIComponent(cursor)}` : ""}`);
export const awards = async (id) => (await call("GET", `api/awards?limit=100&milestone_id=${encodeURIComponent(id)}`)).items;
export const audit = (cursor) => call("GET", `api/audit?limit=20${cursor ? `&cursor=${encodeURIComponent(cursor)}` : ""}`);
export const create = (fields, key) => call("POST", "api/milestones", fields, { "Idempotency-Key": key });
export const change = (id, fields) => call("PATCH", milestone(id), fields);
export const sync = () => call("POST", "api/sync");
export const logOut = () => call("POST", "auth/logout");
export const deleteAccount = () => call("DELETE", "api/me");
