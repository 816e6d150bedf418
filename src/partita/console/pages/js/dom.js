// Building elements: el("a", {href: "#/todo"}, "To-Do"). Text is always text, never markup.

export function el(tag, properties = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(properties)) {
    if (value === undefined || value === null || value === false) continue;
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else if (name in element && name !== "list") element[name] = value;
    else element.setAttribute(name, value);
  }
  element.append(...children.flat().filter((child) => child !== null && child !== undefined));
  return element;
}

export function replace(parent, ...children) {
  parent.replaceChildren(...children.flat().filter((child) => child !== null && child !== undefined));
}

// Sets text only where it changes, so that a screen reader and a selection are left alone.
export function say(element, text) {
  if (element.textContent !== text) element.textContent = text;
}

// A key template with its places marked: TASK#{user_id}.
export function template(text) {
  const parts = text.split(/(\{[^}]*\})/).filter(Boolean);
  return el("code", {}, parts.map((part) => (part.startsWith("{") ? el("i", {}, part) : part)));
}

export function table(header, rows, className = "") {
  const cells = (tag, row) => el("tr", {}, row.map((cell) => el(tag, tag === "th" ? { scope: "col" } : {}, cell)));
  const body = rows.map((row) => cells("td", row));
  return el("div", { className: "wide", tabIndex: 0, role: "region", ariaLabel: header.join(", ") }, el("table", { className }, el("thead", {}, cells("th", header)), el("tbody", {}, body)));
}
