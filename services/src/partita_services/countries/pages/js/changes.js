// The latest changes of all countries: a few on the first page, and all on a page of their own.

import { attempt } from "/assets/attempt.js";
import { el, replace } from "/assets/dom.js";
import { latest } from "/assets/latest.js";
import { KeyedList } from "/assets/list.js";
import { moreButton, Pages } from "/assets/pages.js";
import { empty, failed, skeleton } from "/assets/states.js";
import * as api from "./api.js";
import { authorship, moment } from "./format.js";

const FEW = 8;
const WORDS = { created: "added", changed: "changed", deleted: "withdrawn" };

export function latestPanel() {
  const place = el("div", {}, skeleton(3));
  const asked = latest();
  const load = () => asked(() => api.changes(FEW), ({ items }) => replace(place, el("ol", { className: "latest" }, ...items.map(row)), el("p", { className: "lead" }, el("a", { href: "#/changes" }, "All changes"))), (error) => {
    if (error.status === undefined) throw error;
    replace(place, failed(error, load, "The changes cannot be read"));
  });
  load();
  return el("section", { className: "panel" }, el("h2", {}, "Latest changes"), place);
}

// Reads the first page of changes; returns a function of a signal that builds the panel of all changes.
export async function readChanges() {
  const pages = new Pages((cursor) => api.changes(api.PAGE, cursor));
  let items = await pages.next();
  return (signal) => {
    if (!items.length) return empty("There are no changes yet.");
    const rows = el("ol", { className: "latest" });
    const list = new KeyedList(rows, { key: ({ alpha2Code, versionNumber }) => `${alpha2Code} ${versionNumber}`, draw: row, signal });
    const more = moreButton(() => attempt("The older changes cannot be read.", async () => {
      items = [...items, ...(await pages.next())];
      draw();
    }), { className: "button more", signal });
    const draw = () => {
      list.show(items);
      more.hidden = !pages.hasMore;
    };
    draw();
    return el("section", { className: "panel" }, rows, more);
  };
}

function row(change) {
  return el(
    "li",
    {},
    el("a", { href: `#/${change.alpha2Code}`, dir: "auto" }, change.name),
    ` ${WORDS[change.change]}, as of ${moment(change.createDate)}`,
    el("span", { className: "by", dir: "auto" }, authorship(change)),
  );
}
