// The picture of a model: its earned parts in colour, the others as an outline.

import { connection } from "/assets/connection.js";
import { el, svg } from "/assets/dom.js";
import * as api from "./api.js";

const NONE = "<svg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 400 400'/>";
const files = new Map();
let copies = 0;

function file(modelId) {
  if (!files.has(modelId)) files.set(modelId, read(modelId).then((text) => new DOMParser().parseFromString(text, "image/svg+xml").documentElement));
  return files.get(modelId);
}

// A picture that cannot be read is read again once the server can be reached. Until then, or if there is none, it is empty.
async function read(modelId) {
  try {
    return await api.picture(modelId);
  } catch (error) {
    if (error.status !== 0) return NONE;
    const once = new AbortController();
    await new Promise((passed) => connection.onRegained(passed, once.signal));
    once.abort();
    return read(modelId);
  }
}

// Makes a replaced picture be read again.
export const forget = (modelId) => files.delete(modelId);

// Returns an element with `show(earned)`, which colours the first parts; newly earned parts are animated.
export function picture(model) {
  const drawing = svg("svg", { viewBox: "0 0 400 400", role: "img", class: "picture", "aria-label": model.name });
  const stage = el("div", { className: "stage" }, drawing);
  let shown = null;

  const ready = file(model.model_id).then((source) => {
    const copy = document.importNode(source, true);
    drawing.setAttribute("viewBox", copy.getAttribute("viewBox") ?? "0 0 400 400");
    own(copy);
    drawing.append(...copy.childNodes);
  });

  stage.show = async (earned) => {
    await ready;
    for (const [index, part] of model.parts.entries()) {
      const group = drawing.querySelector(`[data-part="part-${index + 1}"]`);
      const isEarned = index < earned;
      group?.classList.toggle("fresh", isEarned && shown !== null && index >= shown);
      group?.classList.toggle("earned", isEarned);
      group?.querySelector("title")?.replaceChildren(`${part.name}${isEarned ? "" : ", not earned yet"}`);
    }
    stage.classList.toggle("complete", earned === model.parts.length);
    drawing.setAttribute("aria-label", `${model.name}: ${earned} of ${model.parts.length} parts earned`);
    shown = earned;
  };
  return stage;
}

// Makes the ids unique for each copy, because a model may be on the page many times.
function own(copy) {
  const suffix = `-${++copies}`;
  for (const group of copy.querySelectorAll("g[id]")) {
    group.dataset.part = group.id;
    group.classList.add("part");
    group.removeAttribute("id");
    group.prepend(svg("title"));
  }
  for (const gradient of copy.querySelectorAll("[id]")) gradient.id += suffix;
  for (const filled of copy.querySelectorAll("[fill^='url']")) {
    filled.setAttribute("fill", filled.getAttribute("fill").replace(")", `${suffix})`));
  }
}
