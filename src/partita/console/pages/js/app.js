// The page: services at the left, and at the right what the address after # names.

import * as api from "./api.js";
import { refresh, watch } from "./live.js";
import { overview } from "./overview.js";
import { servicePage } from "./service.js";
import { account } from "./signin.js";
import { decoded } from "/assets/address.js";
import { el, replace, write } from "/assets/dom.js";

const at = (id) => document.getElementById(id);
const [main, nav, health] = [at("main"), at("services"), at("health")];
let services = [];

function route() {
  const [name = "", part = "patterns", chosen = ""] = location.hash.slice(2).split("/").map(decoded);
  const service = services.find((each) => each.name === name);
  const known = ["patterns", "keys", "entities"].includes(part) ? part : "patterns";
  document.title = `${service ? `${service.title} · ` : ""}Console · Partita`;
  for (const link of nav.querySelectorAll("a")) link.ariaCurrent = link.hash === (service ? `#/${name}` : "#/") ? "page" : null;
  if (!services.length) return replace(main, el("section", { className: "panel" }, el("h1", {}, "No service is served"), el("p", {}, "Start with ", el("code", {}, "partita serve --all"), " to serve all that are installed.")));
  nav.querySelector("[aria-current]")?.scrollIntoView({ block: "nearest", inline: "center" });
  replace(main, service ? servicePage(service, known, chosen) : overview(services));
  if (!chosen) window.scrollTo(0, 0);
}

function menu() {
  const link = (href, text) => el("a", { href }, text);
  replace(nav, link("#/", "Overview"), services.map((service) => link(`#/${service.name}`, service.title)), el("span", { className: "space" }), el("a", { href: "/metrics" }, "Metrics"));
}

document.addEventListener("keydown", (event) => {
  const find = at("find");
  if (event.key !== "/" || !find || event.target.closest("input, textarea, select")) return;
  event.preventDefault();
  find.focus();
});
window.addEventListener("hashchange", route);

account(at("account"));
watch(health, (live) => {
  health.classList.toggle("ill", live?.healthy === false);
  write(health, live === null ? "" : live.healthy ? "Store responds" : "Store does not respond");
});
try {
  services = await api.services();
  menu();
  route();
} catch (error) {
  replace(main, el("section", { className: "panel" }, el("h1", {}, "The console cannot be shown"), el("p", {}, error.message)));
}
await refresh();
