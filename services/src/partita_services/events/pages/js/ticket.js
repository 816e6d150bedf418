// A user's request as a ticket: its progress, its place in the queue, and its outcome.

import { icon } from "./icons.js";
import { nameRow } from "./name.js";
import { clock, fraction, number, OPEN, outcome, REASONS, span, STATUSES } from "./words.js";
import { el, replace, write } from "/assets/dom.js";

const STEPS = [["RECEIVED", "Received"], ["QUEUED", "Queued"], ["PROCESSING", "Processing"], ["DECIDED", "Decided"]];

export function ticket(request, on) {
  const announced = el("p", { className: "hidden", role: "status" }); // only the title, whenever it changes
  const shown = el("div", {});
  const element = el("section", { className: "ticket", tabIndex: -1 }, announced, shown, on.log ? steppedLog(on.log) : null);
  element.setAttribute("aria-label", "Your request");
  const asking = { isSure: false };

  function show(now) {
    element.dataset.tone = outcome(now).tone;
    write(announced, title(now));
    replace(
      shown,
      el("div", { className: "body" }, el("h2", {}, title(now)), el("p", { className: "lead" }, lead(now)), place(now)),
      steps(now),
      el("div", { className: "stub" }, facts(now), actions(now, on, asking)),
      nameRow(now, on.rename),
    );
  }

  show(request);
  return { element, show, name: {} };
}

// The log of a request, if the event keeps one; it is read when the user opens it.
function steppedLog(read) {
  const list = el("ol", {});
  const details = el("details", { className: "log" }, el("summary", {}, "What happened, step by step"), list);
  const step = (entry) => el("li", {}, el("time", { dateTime: entry.occurredAt }, clock(entry.occurredAt) + fraction(entry.occurredAt)), el("span", {}, [STATUSES[entry.status], REASONS[entry.reason]].filter(Boolean).join(": ")));
  details.addEventListener("toggle", async () => {
    if (!details.open) return;
    try {
      const { items } = await read();
      replace(list, ...(items.length ? items.map(step) : [el("li", {}, "Nothing has been logged yet.")]));
    } catch (error) {
      replace(list, el("li", {}, error.message));
    }
  });
  return details;
}

function title(request) {
  if (request.status === "SUCCEEDED") return "You have a seat";
  if (request.errorCode === "EVENT_CANCELLED") return "The event was cancelled";
  if (request.errorCode === "CANCELLED") return "Cancelled";
  if (request.waitingPosition) return "You are on the waiting list";
  if (request.errorCode === "CAPACITY") return "All seats were taken before your turn";
  if (request.errorCode === "CLOSED") return "The draw had begun before your request arrived";
  if (request.status === "FAILED_FINAL") return "Your request failed";
  if (request.status === "REJECTED") return "No seat this time";
  if (request.status === "PROCESSING" && request.eventType === "LOTTERY") return "You take part in the draw";
  return request.status === "RECEIVED" ? "Your request was received" : "You are in the queue";
}

function lead(request) {
  if (request.status === "SUCCEEDED" && request.waitingPosition) return "It is yours: a seat was freed, and you were the first on the waiting list.";
  if (request.status === "SUCCEEDED") return request.eventType === "LOTTERY" ? "It is yours: you were drawn." : "It is yours: you were early enough in the queue.";
  if (request.errorCode === "EVENT_CANCELLED") return request.errorMessage ?? "";
  if (request.errorCode === "CANCELLED") return "You no longer have a place. You may apply again while the event is open.";
  if (request.waitingPosition) return "When a seat is freed, the first on the list gets it.";
  if (request.errorCode === "CAPACITY") return "Everybody who got one was in the queue before you.";
  if (request.status === "FAILED_FINAL") return request.errorMessage ?? "You may apply again.";
  if (request.failureClass === "TRANSIENT") return "There is a temporary problem. Your place is kept, and your request is tried again.";
  if (request.eventType === "LOTTERY") return "The winners are drawn after the event has closed. This page will tell you.";
  return "You can stay here: this page updates itself. Or leave: your place is kept.";
}

// The number that people wait for.
function place(request) {
  const waits = OPEN.includes(request.status) && request.position;
  const value = waits ? request.position : request.status === "SUCCEEDED" ? null : request.waitingPosition;
  if (!value) return null;
  const soon = waits && request.estimatedSeconds !== null && request.estimatedSeconds !== undefined;
  return el(
    "p",
    { className: "place" },
    el("strong", {}, number(value)),
    el("span", {}, waits ? (soon ? `your place, about ${span(request.estimatedSeconds)}` : "your place in the queue") : "your place on the waiting list"),
  );
}

function steps(request) {
  const reached = OPEN.includes(request.status) ? STEPS.findIndex(([name]) => name === request.status) : STEPS.length - 1;
  return el(
    "ol",
    { className: "steps", ariaLabel: "Progress" },
    ...STEPS.map(([, name], at) => {
      const step = el("li", { className: at < reached ? "done" : at === reached ? "now" : "" }, el("span", { className: "dot" }, at < reached || reached === STEPS.length - 1 ? icon(lost(request) && at === reached ? "close" : "check") : null), name);
      if (at === reached) step.setAttribute("aria-current", "step");
      return step;
    }),
  );
}

const lost = ({ status }) => status === "REJECTED" || status === "FAILED_FINAL";

function facts(request) {
  return el(
    "dl",
    {},
    ...[
      ["Request", request.requestId],
      ["Queued", request.queuedAt ? clock(request.queuedAt) + fraction(request.queuedAt) : "–"],
      ["Decided", request.finishedAt ? clock(request.finishedAt) + fraction(request.finishedAt) : "–"],
    ].map(([name, value]) => el("div", {}, el("dt", {}, name), el("dd", {}, value))),
  );
}

// Cancelling takes two clicks; `asking` survives the redrawing, which happens whenever there is news.
function actions(request, on, asking) {
  const isOver = request.errorCode === "CANCELLED" || request.status === "FAILED_FINAL";
  if (isOver) return on.canApply() ? el("button", { className: "button", type: "button", onclick: on.again }, "Apply again") : null;
  if (lost(request) && !request.waitingPosition) return null;
  const button = el("button", { className: "button danger", type: "button" });
  const label = () => {
    button.textContent = asking.isSure ? (request.status === "SUCCEEDED" ? "Give the seat back?" : "Really cancel?") : "Cancel my request";
    button.classList.toggle("solid", asking.isSure);
  };
  button.addEventListener("click", async () => {
    if (asking.isSure) {
      button.disabled = true;
      await on.cancel();
    }
    asking.isSure = !asking.isSure;
    label();
  });
  label();
  return button;
}
