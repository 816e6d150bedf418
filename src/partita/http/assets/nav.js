// The menu in the header of every page: links to the services, the front page and the console, and the theme.

import { el, line } from "./dom.js";
import "./focus.js";
import { site } from "./site.js";
import { theme } from "./theme.js";

const here = location.pathname.split("/")[1];
const GRID = "M4 4h6v6H4zM14 4h6v6h-6zM4 14h6v6H4zM14 14h6v6h-6z";

function link(href, text, isHere) {
  return el("li", {}, el("a", { href, "aria-current": isHere ? "page" : null }, text));
}

function themes() {
  const choice = ([value, text]) => el("label", {}, el("input", { type: "radio", name: "theme", value, checked: value === theme.get(), onchange: () => theme.set(value) }), el("span", {}, text));
  return el("fieldset", { className: "themes" }, el("legend", {}, "Colours"), ...theme.all.map(choice));
}

// The link that skips the header moves the focus, but does not change the address: the part after # may name something.
document.querySelector(".skip")?.addEventListener("click", (event) => {
  event.preventDefault();
  document.querySelector(event.currentTarget.getAttribute("href"))?.focus();
});

const { services } = await site;
const top = document.querySelector("header.top");
if (top) {
  const others = services.filter(({ page }) => page).map(({ name, title, page }) => link(page, title, name === here));
  const menu = el(
    "details",
    { className: "switcher" },
    el("summary", { ariaLabel: "Services", title: "Services" }, line(GRID)),
    el("nav", { ariaLabel: "Services of this server" }, services.length ? el("ul", {}, link("/", "Start", here === ""), others, link("/api-docs/", "APIs", here === "api-docs"), link("/console/", "Console", here === "console")) : null, themes()),
  );
  top.querySelector(".brand").after(menu);
  document.addEventListener("click", (event) => {
    if (!menu.contains(event.target)) menu.open = false;
  });
  menu.addEventListener("keydown", (event) => {
    if (event.key !== "Escape" || !menu.open) return;
    event.stopPropagation();
    menu.open = false;
    menu.querySelector("summary").focus();
  });
}
