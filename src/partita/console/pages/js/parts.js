// Parts of the page that several views have.

import { el } from "/assets/dom.js";

// A key template with its places marked: TASK#{user_id}.
export function template(text) {
  const parts = text.split(/(\{[^}]*\})/).filter(Boolean);
  return el("code", {}, parts.map((part) => (part.startsWith("{") ? el("i", {}, part) : part)));
}

export function table(header, rows, className = "") {
  const cells = (tag, row) => el("tr", {}, row.map((cell) => el(tag, tag === "th" ? { scope: "col" } : {}, cell)));
  const body = rows.map((row) => cells("td", row));
  const made = el("table", { className }, el("thead", {}, cells("th", header)), el("tbody", {}, body));
  return el("div", { className: "wide", tabIndex: 0, role: "region", ariaLabel: header.join(", ") }, made);
}
