// The control page: what a person does here, the application hears of.

import { ask, send } from "/assets/api.js";
import { el, replace } from "/assets/dom.js";
import { athleteCard } from "./athlete.js";

const EVERY = 2000;
const [athletes, webhook, chaos, limits, said] = ["athletes", "webhook", "chaos", "limits", "said"].map((id) => document.getElementById(id));
const cards = new Map();
let hush;

function say(text) {
  clearTimeout(hush);
  replace(said, el("p", {}, text));
  hush = setTimeout(() => replace(said), 4000);
}

// Everything is sent as JSON, which a page of another site cannot send.
async function act(method, path, data, done) {
  const said = await send(method, `control/${path}`, { data }).then(() => done, ({ status }) => `That was refused (${status}).`);
  say(said);
  await refresh();
}

const button = (text, work, kind = "") => el("button", { className: `button ${kind}`, type: "button", onclick: work }, text);

async function refresh() {
  const state = await ask("GET", "control");
  for (const athlete of state.athletes) {
    if (!cards.has(athlete.id)) {
      cards.set(athlete.id, athleteCard(athlete, state.sports, act));
      athletes.append(cards.get(athlete.id).element);
    }
    cards.get(athlete.id).show(athlete);
  }
  showWebhook(state);
  showLimits(state.limits);
  if (!chaos.firstChild) showChaos(state.chaos);
}

function showWebhook({ subscription, underway, outcomes }) {
  const event = ({ event: { object_type: type, object_id: id, aspect_type: aspect }, attempt, status }) =>
    el("li", {}, el("span", {}, `${type} ${aspect} ${id}${attempt > 1 ? `, attempt ${attempt}` : ""}`), el("span", { className: `chip ${status === 200 ? "good" : "bad"}` }, status || "lost"));
  const resend = button("Send all events again", () => act("POST", "events/resend", {}, "All events are sent once more."), "small");
  replace(
    webhook,
    el("p", { className: "small" }, subscription ? `Subscription ${subscription.id} notifies ${subscription.callback_url}` : "No application listens yet."),
    underway ? el("p", { className: "small" }, `${underway} on their way`) : null,
    outcomes.length ? el("ul", { className: "events" }, ...outcomes.map(event)) : null,
    outcomes.length ? resend : null,
  );
}

function showLimits(headers) {
  replace(
    limits,
    el("dl", {}, ...["RateLimit", "ReadRateLimit"].flatMap((name) => [el("dt", {}, name === "RateLimit" ? "All requests" : "Reads"), el("dd", {}, `${headers[`X-${name}-Usage`].split(",")[0]} of ${headers[`X-${name}-Limit`].split(",")[0]}`)])),
    el("div", { className: "actions" }, button("Use up", () => act("POST", "limits/exhaust", {}, "The application has to wait for the next quarter of an hour."), "small"), button("Count from zero", () => act("POST", "limits/reset", {}, "Counting starts again from zero."), "small")),
  );
}

function showChaos(now) {
  const choice = (name, label, options) => {
    const select = el("select", { id: name }, ...options.map(([value, text]) => el("option", { value, selected: Number(value) === now[name] }, text)));
    return el("label", {}, label, select);
  };
  replace(
    chaos,
    choice("duplicates", "Each event is sent", [["0", "once"], ["1", "twice"], ["2", "three times"]]),
    choice("spread", "Events arrive", [["0", "at once"], ["5", "within 5 s"], ["20", "within 20 s"]]),
    choice("failures", "Attempts lost", [["0", "none"], ["0.3", "a third"], ["0.7", "most"]]),
  );
  chaos.addEventListener("change", () => {
    const chosen = Object.fromEntries([...chaos.querySelectorAll("select")].map((select) => [select.id, Number(select.value)]));
    act("PUT", "chaos", chosen, "The network behaves so from now on.");
  });
}

async function watch() {
  if (!document.hidden) await refresh().catch(() => say("The simulator does not respond."));
  setTimeout(watch, EVERY);
}

await watch();
const asked = document.getElementById(location.hash.slice(1))?.closest("details");
if (asked) {
  asked.open = true;
  location.replace(location.hash);
}
