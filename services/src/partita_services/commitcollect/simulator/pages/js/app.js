// The control page: the application is notified of what a person does here.

import { ask, send } from "/assets/api.js";
import { attempt } from "/assets/attempt.js";
import { connection } from "/assets/connection.js";
import { el, replace, write } from "/assets/dom.js";
import { poll } from "/assets/poll.js";
import { failed, skeleton } from "/assets/states.js";
import { toast } from "/assets/toast.js";
import { athleteCard } from "./athlete.js";
import { chaosPanel, limitPanel, messagePanel } from "./network.js";

const EVERY = 2000;
const content = document.getElementById("content");
const { signal } = new AbortController(); // as long as the page

// Sends a change as JSON, which a page of another site cannot send, and shows the message `done` with a button to undo it. For
// dialogs, which show errors themselves.
async function tell(method, path, data, done, undo = null) {
  await send(method, `control/${path}`, { data });
  toast(done, undo ? { action: ["Undo", undo] } : {});
  look();
}
const act = (...told) => attempt("Nothing was changed.", () => tell(...told));
let look = () => {};

function board(first) {
  const cards = new Map();
  const athletes = el("section", { className: "athletes", ariaLabel: "Athletes" });
  const [messages, chaos, limits] = [messagePanel(act, signal), chaosPanel(act), limitPanel(act)];
  const stale = el("p", { className: "stale", role: "status" });

  function show(state) {
    for (const athlete of state.athletes) {
      if (!cards.has(athlete.id)) {
        cards.set(athlete.id, athleteCard(athlete, state.sports, { act, tell }, signal));
        athletes.append(cards.get(athlete.id).element);
      }
      cards.get(athlete.id).show(athlete);
    }
    messages.show(state);
    chaos.show(state.chaos);
    limits.show(state.limits);
    write(stale, "");
  }

  show(first);
  const side = el("section", { className: "network", ariaLabel: "Network" }, messages.element, chaos.element, limits.element);
  replace(content, el("h1", { className: "hidden" }, "Athletes and network"), stale, el("div", { className: "board" }, athletes, side));
  look = poll({ every: () => EVERY, read, show, failed: (error) => write(stale, error.status === 0 ? "" : `This may be out of date. ${error.message}`), signal });
  goTo(location.hash.slice(1));
}

const read = () => ask("GET", "control");

// Shows the workout that the address names, such as in links from CommitCollect.
function goTo(id) {
  const asked = document.getElementById(id)?.closest("details");
  if (!asked) return;
  asked.open = true;
  location.replace(location.hash);
}

async function start() {
  replace(content, el("h1", { className: "hidden loading" }, "Athletes and network"), el("div", { className: "board" }, skeleton(4)));
  try {
    board(await read());
  } catch (error) {
    if (error.status === undefined) throw error;
    replace(content, failed(error, start, "The simulator cannot be shown"));
  }
}

connection.onRegained(() => content.querySelector(".in-place.failed") && start());
await start();
