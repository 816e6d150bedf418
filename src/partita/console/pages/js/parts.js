// Elements that several views share.

import { el } from "/assets/dom.js";

// A key template with its placeholders highlighted: TASK#{user_id}.
export function template(text) {
  const parts = text.split(/(\{[^}]*\})/).filter(Boolean);
  return el("code", {}, parts.map((part) => (part.startsWith("{") ? el("i", {}, part) : part)));
}

export function table(header, rows, { className = "", name = header.join(", ") } = {}) {
  return frame(header, el("tbody", {}, rows.map((row) => el("tr", {}, row.map((cell) => el("td", {}, cell))))), className, name);
}

// A table in a frame that scrolls if the table is too wide; `body` has the rows.
export function frame(header, body, className = "", name = header.join(", ")) {
  const head = el("tr", {}, header.map((cell) => el("th", { scope: "col" }, cell)));
  return el("div", { className: "wide", tabIndex: 0, role: "region", ariaLabel: name }, el("table", { className }, el("thead", {}, head), body));
}
