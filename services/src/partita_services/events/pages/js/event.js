// One event, for users who want a seat: apply, and watch the outcome.

import * as api from "./api.js";
import { drawPanel } from "./draw.js";
import { icon } from "./icons.js";
import { about, chip, seatBar, when } from "./list.js";
import { nameFields } from "./name.js";
import { ticket } from "./ticket.js";
import { OPEN, phase, PHASES, span, TYPES, until } from "./words.js";
import { newKey } from "/assets/api.js";
import { el, replace } from "/assets/dom.js";
import { signInAgain } from "/assets/signin.js";
import { tabs } from "/assets/tabs.js";
import { toast } from "/assets/toast.js";

const TICK = 1000;
const PROMISE = {
  FIRST_COME: "Seats are given out in the order of the queue: first come, first served, whatever the load.",
  LOTTERY: "Everybody who applies in time takes part. Anyone can verify the draw with the seed that it reveals.",
};

export async function eventPage(shown, id) {
  let event = await api.event(id);
  const name = nameFields(); // keeps what was typed when the page is redrawn
  let [key, said] = [newKey(), ""]; // however often the button is pressed, there is one request
  let [redrawMine, following] = [null, new AbortController()]; // the function that the clock calls, and the controller of the shown ticket
  const tell = tabs(`events ${api.caller().id} ${id}`, readMine, shown.signal); // after applying or cancelling in another tab
  const hero = el("div", { className: "hero" });
  const mine = el("div", { className: "mine" });
  const drawing = event.eventType === "LOTTERY" ? drawPanel(event, shown, { canHold: false }) : null;
  replace(shown.element, el("a", { className: "back", href: "#/" }, "← All events"), hero, mine, drawing?.element);

  let heroShown = "";
  const drawHero = () => {
    const parts = heading(event);
    const text = parts.map((part) => part?.outerHTML ?? "").join();
    if (text !== heroShown) replace(hero, ...parts);
    heroShown = text;
  };
  drawHero();
  const request = await find((each) => each.eventId === id && each.errorCode !== "CANCELLED" && each.status !== "FAILED_FINAL");
  redrawMine = request ? follow(request) : offer();
  const timer = setInterval(tick, TICK);
  shown.signal.addEventListener("abort", () => clearInterval(timer));
  watchSeats();
  await drawing?.load();

  function tick() {
    drawHero();
    drawing?.tick();
    redrawMine?.();
  }

  // Shows the button that applies; returns a function that redraws it as time passes.
  function offer() {
    let drawn = "";
    const redraw = () => {
      const at = phase(event);
      const now = at === "UPCOMING" ? `${at} ${span(until(event.opensAt))}` : at;
      if (now !== drawn) replace(mine, application(at));
      drawn = now;
    };
    redraw();
    return redraw;
  }

  function application(at) {
    const canApply = at === "OPEN";
    const button = el("button", { className: "button primary huge", type: "button", disabled: !canApply, onclick: apply }, canApply ? "Apply" : at === "UPCOMING" ? `Opens in ${span(until(event.opensAt))}` : PHASES[at]);
    return el("section", { className: "apply" }, el("p", {}, PROMISE[event.eventType]), canApply ? name.element : null, button);

    async function apply() {
      button.disabled = true;
      button.textContent = "Applying…";
      const applicant = name.value();
      if (said && said !== JSON.stringify(applicant)) key = newKey(); // another name is another request
      said = JSON.stringify(applicant);
      try {
        redrawMine = follow(await api.apply(id, key, applicant));
        keepFocus();
        tell("applied");
      } catch (error) {
        if (error.status === undefined) throw error;
        redrawMine = offer();
        refused(error);
        event = await api.event(id).catch(() => event);
      }
    }

    function refused(error) {
      const again = () => mine.querySelector("button:enabled")?.click();
      const action = error.status === 401 ? ["Sign in", async () => (await signInAgain({ roles: ["user", "operator"] })) && again()] : error.status === 0 || error.status >= 500 ? ["Try again", again] : null;
      toast(`You have not applied. ${error.message}`, { wrong: true, action });
    }
  }

  // Shows a ticket that updates itself; returns null, because the clock has nothing to redraw.
  function follow(found) {
    const own = ticket(found, {
      cancel: async () => {
        try {
          own.show(await api.cancel(found.requestId));
          shown.say("Your request was cancelled.");
          tell("cancelled");
          keepFocus();
        } catch (error) {
          shown.say(error.message, true);
        }
        event = await api.event(id);
        drawHero();
      },
      again: () => {
        key = newKey();
        redrawMine = offer();
        mine.querySelector("button:enabled")?.click();
      },
      rename: async (applicant) => {
        try {
          const { displayName, showsName, ...rest } = await api.rename(found.requestId, applicant);
          own.name = { displayName, showsName }; // an event that was already on its way may still have the former name
          own.show({ ...rest, ...own.name });
        } catch (error) {
          shown.say(error.message, true);
        }
      },
      canApply: () => phase(event) === "OPEN",
      log: event.keepsLog ? () => api.log(found.requestId) : null,
    });
    replace(mine, own.element);
    following.abort();
    following = new AbortController();
    watch(found, own, AbortSignal.any([shown.signal, following.signal]));
    return null;
  }

  // The pressed button is gone: the ticket that replaced it takes the focus.
  function keepFocus() {
    if (document.activeElement === document.body) mine.querySelector(".ticket").focus({ preventScroll: true });
  }

  // Reads and shows the newest request for this event.
  async function readMine() {
    const newest = await find((each) => each.eventId === id).catch(() => null);
    if (newest && !shown.signal.aborted) redrawMine = follow(newest);
  }

  async function watch(found, own, signal) {
    let wasOpen = OPEN.includes(found.status);
    let wasWaiting = found.errorCode === "WAITING_LIST";
    for await (const now of api.progress(found.requestId, signal)) {
      own.show({ ...now, ...own.name });
      if (wasWaiting && now.status === "SUCCEEDED") toast("A seat was freed, and it is yours.");
      wasWaiting = now.errorCode === "WAITING_LIST";
      if (!wasOpen || OPEN.includes(now.status)) continue;
      wasOpen = false;
      await drawing?.load(); // it was decided by the draw, which can be verified now
    }
  }

  async function watchSeats() {
    for await (const figures of api.figures(id, shown.signal)) {
      event = { ...event, capacityRemaining: figures.capacityRemaining };
      drawHero();
    }
  }
}

// The caller's newest request that `isWanted` accepts, however many requests there are.
async function find(isWanted) {
  for (let cursor = null; ;) {
    const page = await api.mine(cursor);
    const found = page.items.find(isWanted);
    cursor = page.next_cursor ?? null;
    if (found || cursor === null) return found;
  }
}

const heading = (event) => [
  el("div", { className: "facts" }, chip(event), el("span", { className: "type" }, icon(event.eventType === "LOTTERY" ? "dice" : "queue"), TYPES[event.eventType])),
  el("h1", { dir: "auto" }, event.name),
  el("p", { className: "when" }, when(event)),
  about(event),
  event.cancelReason ? el("p", { className: "wrong" }, `Cancelled: ${event.cancelReason}`) : null,
  seatBar(event),
];
