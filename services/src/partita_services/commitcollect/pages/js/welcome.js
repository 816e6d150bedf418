// The page before the sign-in: a short introduction, and a model that is built part by part.

import { el } from "/assets/dom.js";
import { picture } from "./picture.js";

const PAUSE = 900;
const ADMIRE = 4; // how many pauses the complete model is shown

const PROBLEMS = {
  access_denied: "You did not allow the connection, so nothing was connected.",
  scope_missing: "CommitCollect has to see your activities to count them. Please connect again, and leave “View data about your activities” checked.",
  state_invalid: "The sign-in took too long, or began in another browser. Please connect again.",
  athlete_taken: "This athlete is connected to another account already.",
  strava_unavailable: "Strava did not respond. Please try again soon.",
  account_closing: "That account is being deleted. Please wait a little, and connect again to start over.",
};

// The notice of a problem at Strava; null if there is none.
export function problemNotice(problem) {
  return problem ? el("p", { className: "notice wrong", role: "alert" }, PROBLEMS[problem] ?? "The connection to Strava failed. Please try again.") : null;
}

export function welcome(problem, said, models) {
  const [shown] = models;
  const model = shown ? picture(shown) : null;
  if (model) build(model, shown.parts.length);
  return el(
    "section",
    { className: "welcome" },
    el(
      "div",
      {},
      problemNotice(problem),
      said ? el("p", { className: "notice", role: "status" }, said) : null,
      el("h1", {}, "Every workout builds something"),
      el("p", { className: "lead" }, `Commit to a milestone, train as you always do, and earn a model part by part${named(models)}.`),
      el("p", {}, el("a", { className: "button primary large", href: "auth/login" }, "Connect with Strava")),
      el("p", { className: "small" }, "We read your activities, and never change them. You can leave at any time, with everything deleted."),
    ),
    ...(model ? [model] : []),
  );
}

const NAMED = 3;
const named = (models) => (models.length ? `: ${models.slice(0, NAMED).map(({ name }) => name.toLowerCase()).join(", ")}` : "");

function build(model, parts) {
  if (matchMedia("(prefers-reduced-motion: reduce)").matches) {
    model.show(parts);
    return;
  }
  let step = 0;
  const timer = setInterval(() => {
    if (!model.isConnected) {
      clearInterval(timer);
      return;
    }
    model.show(Math.min(parts, step));
    step = (step + 1) % (parts + ADMIRE);
  }, PAUSE);
  model.show(0);
}
