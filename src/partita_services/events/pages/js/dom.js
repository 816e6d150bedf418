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
  element.append(...present(children));
  return element;
}

export function svg(tag, attributes = {}, ...children) {
  const element = document.createElementNS(SVG, tag);
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
  element.append(...present(children));
  return element;
}

export function replace(parent, ...children) {
  parent.replaceChildren(...present(children));
}

const present = (children) => children.filter((child) => child !== null && child !== undefined && child !== false);

// Icons are drawn here, so that they take the colour of the text.
const PATHS = {
  check: "M5 12.5l4.5 4.5L19 7.5",
  close: "M6 6l12 12M18 6L6 18",
  clock: "M12 7v5l3.5 2M21 12a9 9 0 1 1-18 0a9 9 0 0 1 18 0",
  dice: "M4 4h16v16H4zM8.5 8.5h.01M15.5 8.5h.01M12 12h.01M8.5 15.5h.01M15.5 15.5h.01",
  download: "M12 4v11M7 10.5l5 5 5-5M5 20h14",
  line: "M5 7h14M5 12h9M5 17h5",
  out: "M10 4H5v16h5M14 8l4 4-4 4M18 12H9",
  plus: "M12 5v14M5 12h14",
  seat: "M6 4v9h10M6 13l-1 7M16 13l1 7M16 13V9",
  shield: "M12 3l8 3v6c0 5-3.5 8-8 9c-4.5-1-8-4-8-9V6zM8.5 12l2.5 2.5L15.5 10",
};

export function icon(name) {
  return svg("svg", { viewBox: "0 0 24 24", "aria-hidden": "true", class: "icon" }, svg("path", { d: PATHS[name] }));
}
