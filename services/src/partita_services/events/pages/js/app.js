// The page: sign in, then the view that the address names.

import * as api from "./api.js";
import { eventPage } from "./event.js";
import { eventList } from "./list.js";
import { mine } from "./mine.js";
import { operatePage } from "./operate.js";
import { signIn } from "./signin.js";
import { decoded } from "/assets/address.js";
import { connection } from "/assets/connection.js";
import { el, isolated, replace } from "/assets/dom.js";
import { person } from "/assets/person.js";
import { failed, skeleton } from "/assets/states.js";
import { toast } from "/assets/toast.js";
import { startOver } from "/assets/unsaved.js";

const at = (id) => document.getElementById(id);
const [content, nav, account] = ["content", "nav", "account"].map(at);

const ROUTES = [
  [/^#\/operate\/([^/]+)$/, (shown, id) => operatePage(shown, id)],
  [/^#\/operate$/, (shown) => eventList(shown, { operating: true })],
  [/^#\/events\/([^/]+)$/, (shown, id) => eventPage(shown, id)],
  [/^#\/mine$/, (shown) => mine(shown)],
  [/^/, (shown) => eventList(shown, { operating: false })],
];
const PAGES = [["#/", "Events"], ["#/mine", "My requests"], ["#/operate", "Operate"]];

let leaving = new AbortController();
let here = null; // the history entry that is shown
const places = new Map(); // how far each entry was scrolled

const say = (text, isWrong = false) => toast(text, { wrong: isWrong });

function ask(problem) {
  nav.hidden = account.hidden = true;
  replace(content, signIn(start, problem));
}

function start() {
  const { id, isOperator } = api.caller();
  nav.hidden = account.hidden = false;
  replace(nav, ...PAGES.filter(([to]) => isOperator || to !== "#/operate").map(([href, name]) => el("a", { href }, name)));
  replace(account, person(id, leave));
  show();
}

function leave() {
  api.token.forget();
  location.hash = "#/";
  startOver();
}

// Each page lives until the next one is shown: `signal` ends its streams and clocks.
async function show() {
  leaving.abort();
  leaving = new AbortController();
  const { signal } = leaving;
  const hash = location.hash || "#/";
  for (const link of nav.children) link.ariaCurrent = isAt(link.getAttribute("href"), hash) ? "page" : null;
  nav.querySelector("[aria-current]")?.scrollIntoView({ block: "nearest", inline: "nearest" }); // on a very small phone
  const [pattern, page] = ROUTES.find(([each]) => each.test(hash));
  const shown = { element: el("div", { className: "page" }, el("h1", { className: "hidden loading" }, "Events"), skeleton(4)), signal, say };
  replace(content, shown.element);
  document.title = "Events";
  try {
    await page(shown, ...hash.match(pattern).slice(1).map(decoded));
    if (signal.aborted) return;
    const heading = content.querySelector("h1")?.textContent;
    document.title = heading && heading !== "Events" ? `${isolated(heading)} · Events` : "Events";
  } catch (error) {
    if (signal.aborted) return;
    if (error.status === 401) {
      api.token.forget();
      ask(error.message);
      return;
    }
    if (error.status === undefined) throw error;
    replace(shown.element, error.status === 404 ? missing() : failed(error, show));
  }
}

function missing() {
  document.title = "There is no such event · Events";
  return el("section", { className: "notice", role: "alert" }, el("h1", {}, "There is no such event"), el("p", {}, "Its address may be incomplete. ", el("a", { href: "#/" }, "See all events"), "."));
}

const isAt = (href, hash) => (href === "#/" ? hash === "#/" || hash.startsWith("#/events") : hash.startsWith(href));

// After a link, a page is shown from its top; after Back, from where it was left, once it was read again.
function arrive() {
  here = history.state?.place ?? crypto.randomUUID();
  if (!history.state?.place) history.replaceState({ place: here }, "");
  return places.get(here) ?? 0;
}

history.scrollRestoration = "manual";
addEventListener("scroll", () => places.set(here, scrollY), { passive: true });
addEventListener("hashchange", async () => {
  if (!api.token.get()) return;
  const top = arrive();
  const entry = here;
  content.focus({ preventScroll: true });
  scrollTo(0, 0);
  await show();
  if (entry === here) scrollTo(0, top);
});
arrive();

// After a lost connection, a page that could not be read is read again.
connection.onRegained(() => api.token.get() && content.querySelector(".in-place.failed") && show());

if (api.token.get()) start();
else ask("");
