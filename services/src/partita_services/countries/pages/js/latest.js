// The latest changes of all countries: what was written, by whom, and why.

import * as api from "./api.js";
import { el, replace } from "/assets/dom.js";
import { authorship, moment } from "./format.js";

const SHOWN = 8;
const WORDS = { created: "came", changed: "changed", deleted: "withdrawn" };

export function latestPanel() {
  const list = el("ol", { className: "latest" });
  const panel = el("section", { className: "panel" }, el("h2", {}, "Latest changes"), list, el("p", { className: "lead" }, el("a", { href: "api/changes" }, "All of them, as a feed")));
  api.latestChanges(SHOWN).then((changes) => replace(list, ...changes.map(row)), () => panel.remove());
  return panel;
}

function row(change) {
  return el(
    "li",
    {},
    el("a", { href: `#/${change.alpha2Code}` }, change.name),
    ` ${WORDS[change.change]}, as of ${moment(change.createDate)}`,
    el("span", { className: "by" }, authorship(change)),
  );
}
