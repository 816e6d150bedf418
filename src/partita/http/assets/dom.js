// Creates elements: el("a", {href: "#"}, "More"). A string is always inserted as text, never as markup.

const SVG = "http://www.w3.org/2000/svg";

export function el(tag, properties = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(properties)) {
    if (!isPresent(value)) continue;
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else if (name in element && name !== "list") element[name] = value;
    else element.setAttribute(name, value);
  }
  element.append(...present(children));
  return element;
}

export function svg(tag, attributes = {}, ...children) {
  const element = document.createElementNS(SVG, tag);
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
  element.append(...present(children));
  return element;
}

// An icon as inline SVG, so that it has the colour of the text.
export const line = (path) => svg("svg", { viewBox: "0 0 24 24", "aria-hidden": "true", class: "icon" }, svg("path", { d: path }));

export function replace(parent, ...children) {
  parent.replaceChildren(...present(children));
}

// Writes text only if it differs, so that a screen reader and a selection are not disturbed.
export function write(element, text) {
  if (element.textContent !== text) element.textContent = text;
}

// Text of users inside a sentence: from right to left, or with control characters, it must not reorder the words around it.
export const isolated = (text) => (TURNS.test(text) ? `\u2068${text}\u2069` : text);
const TURNS = /[\u0590-\u08ff\u200f\u202a-\u202e\u2066-\u2069\ufb1d-\ufdff\ufe70-\ufefc]|[\u{10800}-\u{10fff}]|[\u{1e800}-\u{1efff}]/u;

// Keeps the height of an element that is fixed to the bottom of the window in a custom property, so that what is above it can
// make room.
export function takesRoom(element, property) {
  new ResizeObserver(() => document.documentElement.style.setProperty(property, `${element.offsetHeight}px`)).observe(element);
}

const isPresent = (value) => value !== null && value !== undefined && value !== false;
const present = (children) => children.flat().filter(isPresent);
