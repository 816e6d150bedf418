// Building elements: el("a", {href: "#"}, "More"). Text is always text, never markup.

const SVG = "http://www.w3.org/2000/svg";

export function el(tag, properties = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(properties)) {
    if (value === undefined || value === null || value === false) continue;
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else if (name in element && name !== "list") element[name] = value;
    else element.setAttribute(name, value);
  }
  element.append(...children.filter((child) => child !== null && child !== undefined));
  return element;
}

export function replace(parent, ...children) {
  parent.replaceChildren(...children.filter((child) => child !== null && child !== undefined));
}

// Text is only written where it differs, so that a reader of the screen is not told the same again.
export function write(element, text) {
  if (element.textContent !== text) element.textContent = text;
}

export function drawn(tag, attributes = {}, ...children) {
  const element = document.createElementNS(SVG, tag);
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
  element.append(...children);
  return element;
}

// Icons are drawn here, so that they take the colour of the text.
const SHOE = "M3 17v-7l3.500 2 3.500-4 4.500 4.500 6.500 2V17zM3 20h18";
const PATHS = {
  Run: SHOE,
  TrailRun: SHOE,
  Walk: SHOE,
  Hike: "M2.500 19l6.500-12 4 7 2-3 6.500 8z",
  Ride: "M9.500 16a3.500 3.500 0 1 1-7 0 3.500 3.500 0 0 1 7 0zM21.500 16a3.500 3.500 0 1 1-7 0 3.500 3.500 0 0 1 7 0zM6 16l4-8h5l3 8M8.500 11H16M14 5.500h3",
  Swim: "M2 11q2.500-3 5 0t5 0 5 0 5 0M2 17q2.500-3 5 0t5 0 5 0 5 0",
  other: "M2.500 12h4l3-7 5 14 3-7h4",
  plus: "M12 5v14M5 12h14",
  check: "M5 12.500l4.500 4.500L19 7.500",
  close: "M6 6l12 12M18 6L6 18",
  sync: "M20 12a8 8 0 0 1-14.500 4.600M4 12a8 8 0 0 1 14.500-4.600M18.500 3v4.500H14M5.500 21v-4.500H10",
};

export function icon(name) {
  const svg = drawn("svg", { viewBox: "0 0 24 24", "aria-hidden": "true", class: "icon" });
  svg.append(drawn("path", { d: PATHS[name] ?? PATHS.other }));
  return svg;
}
