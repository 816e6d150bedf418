// The page: the services on the left, and on the right the view that the URL fragment names.

import * as api from "./api.js";
import { refresh, watch } from "./live.js";
import { overview } from "./overview.js";
import { servicePage } from "./service.js";
import { account } from "./signin.js";
import { decoded } from "/assets/address.js";
import { connection } from "/assets/connection.js";
import { el, replace, write } from "/assets/dom.js";
import { failed, skeleton } from "/assets/states.js";

const at = (id) => document.getElementById(id);
const [main, nav, health] = [at("main"), at("services"), at("health")];
const PARTS = ["patterns", "keys", "entities"];
let services = null; // null until they are loaded
let leaving = new AbortController(); // aborted when the next view is shown

function route() {
  if (services === null) return;
  leaving.abort();
  leaving = new AbortController();
  const [name = "", part = "", chosen = ""] = location.hash.slice(2).split("/").map(decoded);
  const service = services.find((each) => each.name === name);
  document.title = `${service ? `${service.title} · ` : ""}Console · Partita`;
  for (const link of nav.querySelectorAll("a")) link.ariaCurrent = link.hash === (service ? `#/${name}` : "#/") ? "page" : null;
  nav.querySelector("[aria-current]")?.scrollIntoView({ block: "nearest", inline: "center" });
  replace(main, page(service, PARTS.includes(part) ? part : PARTS[0], chosen));
  if (!chosen) window.scrollTo(0, 0);
}

function page(service, part, chosen) {
  if (!services.length) return el("section", { className: "panel" }, el("h1", {}, "No service is served"), el("p", {}, "Start with ", el("code", {}, "partita serve --all"), " to serve all installed services."));
  return service ? servicePage(service, part, chosen, leaving.signal) : overview(services, leaving.signal);
}

function menu() {
  const link = (href, text) => el("a", { href }, text);
  replace(nav, link("#/", "Overview"), services.map((service) => link(`#/${service.name}`, service.title)), el("span", { className: "space" }), el("a", { href: "/metrics" }, "Metrics"));
}

async function start() {
  replace(main, el("h1", { className: "hidden" }, "Console"), skeleton(4));
  try {
    services = await api.services();
  } catch (error) {
    if (error.status === undefined) throw error;
    replace(main, el("h1", { className: "hidden" }, "Console"), failed(error, start, "The console cannot be shown"));
    return;
  }
  menu();
  route();
}

document.addEventListener("keydown", (event) => {
  const find = at("find");
  if (event.key !== "/" || !find || event.target.closest("input, textarea, select, dialog")) return;
  event.preventDefault();
  find.focus();
});
window.addEventListener("hashchange", route);
connection.onRegained(() => services === null && start());

account(at("account"));
watch((live) => {
  health.classList.toggle("ill", live?.healthy === false);
  write(health, live === null ? "" : live.healthy ? "Store responds" : live.isAway ? "Server does not respond" : "Store does not respond");
});
await Promise.all([start(), refresh()]);
