// The messages to the application, the failures of their delivery, and the rate limits of the application.

import { el, write } from "/assets/dom.js";
import { kept, KeyedList } from "/assets/list.js";

const button = (text, work) => el("button", { className: "button small", type: "button", onclick: work }, text);
const panel = (title, ...children) => el("section", { className: "card" }, el("h2", {}, title), ...children);

const MESSAGES = { "activity create": "New workout", "activity update": "Changed workout", "activity delete": "Deleted workout", "athlete update": "Access revoked" };

// Each attempt to send a message, newest first.
export function messagePanel(act, signal) {
  const who = el("p", { className: "small" });
  const underway = el("p", { className: "small" });
  const rows = el("ul", { className: "events" });
  const list = new KeyedList(rows, { key: ({ key }) => key, draw: message, signal });
  const frame = el("div", { className: "frame", role: "region", ariaLabel: "Messages that were sent", tabIndex: 0, hidden: true }, rows);
  const resend = button("Send all messages again", () => act("POST", "events/resend", {}, "All messages will be sent again."));
  resend.hidden = true;
  return {
    element: panel("Messages to the application", who, underway, frame, resend),
    show({ subscription, underway: number, outcomes }) {
      write(who, subscription ? `The application at ${new URL(subscription.callback_url).host} receives all messages.` : "No application has subscribed yet.");
      write(underway, number ? `${number} ${number === 1 ? "message is" : "messages are"} on the way` : "");
      list.show(kept(list.items, numbered(outcomes), ({ key }) => key));
      frame.hidden = resend.hidden = !outcomes.length;
    },
  };
}

// Two attempts may be identical. They are distinguished by their number among identical attempts, oldest first.
function numbered(outcomes) {
  const seen = new Map();
  return outcomes.toReversed().map((outcome) => {
    const text = JSON.stringify(outcome);
    seen.set(text, (seen.get(text) ?? 0) + 1);
    return { ...outcome, key: `${text} ${seen.get(text)}` };
  }).reverse();
}

function message({ event: { object_type: type, aspect_type: aspect, object_id: id }, attempt, status }) {
  const isTaken = status === 200;
  const text = `${MESSAGES[`${type} ${aspect}`] ?? "Something else"}, number ${id}${attempt > 1 ? `, try ${attempt}` : ""}`;
  return el("li", {}, el("span", {}, text), el("span", { className: `chip ${isTaken ? "good" : "bad"}` }, isTaken ? "accepted" : status ? "refused" : "lost"));
}

const CHOICES = [
  ["duplicates", "Each message is sent", [["0", "once"], ["1", "twice"], ["2", "three times"]]],
  ["spread", "Messages arrive", [["0", "at once"], ["5", "within 5 s"], ["20", "within 20 s"]]],
  ["failures", "Attempts that are lost", [["0", "none"], ["0.3", "a third"], ["0.7", "most"]]],
];

export function chaosPanel(act) {
  const selects = CHOICES.map(([name, , options]) => el("select", { id: name }, ...options.map(([value, text]) => el("option", { value }, text))));
  const form = el("form", { id: "chaos" }, ...CHOICES.map(([, label], index) => el("label", {}, label, selects[index])));
  let shown = null;
  form.addEventListener("change", () => {
    const chosen = Object.fromEntries(selects.map((select) => [select.id, Number(select.value)]));
    act("PUT", "chaos", { ...shown, ...chosen }, "The network settings were changed.");
  });
  return {
    element: panel("Network failures", form),
    // Another tab may have changed the settings. The focused field keeps its value.
    show(now) {
      shown = now;
      for (const select of selects) if (document.activeElement !== select) select.value = String(now[select.id]);
    },
  };
}

export function limitPanel(act) {
  const figures = ["RateLimit", "ReadRateLimit"].map((name) => [name, el("dd", {})]);
  const list = el("dl", {}, ...figures.flatMap(([name, value]) => [el("dt", {}, name === "RateLimit" ? "Requests" : "of which reads"), value]));
  const use = button("Use up", () => act("POST", "limits/exhaust", {}, "The limit is used up. The application has to wait for the next quarter of an hour."));
  const reset = button("Reset counts", () => act("POST", "limits/reset", {}, "The counts were reset to zero."));
  return {
    element: panel("Rate limits of the application", el("p", { className: "small" }, "In this quarter of an hour:"), list, el("div", { className: "actions" }, use, reset)),
    show(headers) {
      const first = (name) => headers[name].split(",")[0];
      for (const [name, value] of figures) write(value, `${first(`X-${name}-Usage`)} of ${first(`X-${name}-Limit`)}`);
    },
  };
}
