// The way to the other services and to the console, in the header of every page.

import { el, line } from "./dom.js";
import { site } from "./site.js";

const here = location.pathname.split("/")[1];

function link(href, text, isHere) {
  return el("li", {}, el("a", { href, "aria-current": isHere ? "page" : null }, text));
}

const { services } = await site;
const top = document.querySelector("header.top");
if (top && services.length) {
  const others = services.filter(({ page }) => page).map(({ name, title, page }) => link(page, title, name === here));
  const menu = el(
    "details",
    { className: "switcher" },
    el("summary", { ariaLabel: "Services", title: "Services" }, line("M4 4h6v6H4zM14 4h6v6h-6zM4 14h6v6H4zM14 14h6v6h-6z")),
    el("nav", { ariaLabel: "Services of this server" }, el("ul", {}, link("/", "Console", here === ""), others)),
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
