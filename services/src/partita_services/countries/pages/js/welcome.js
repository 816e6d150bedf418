// The first page: codes with a story, and the latest changes.

import { el } from "/assets/dom.js";
import { latestPanel } from "./changes.js";
import { flag } from "./flag.js";

const STORIES = [
  ["TR", true, "Turkey, now Türkiye", "Renamed in July 2022: two versions of one country"],
  ["CS", false, "One code, two countries", "Czechoslovakia until 1993, Serbia and Montenegro from 2003"],
  ["MM", true, "104 before and after", "Burma and Myanmar had one numeric code, one after the other"],
  ["SU", false, "The USSR", "Withdrawn in 1992; its versions are still here"],
  ["RO", true, "From ROM to ROU", "An alpha-3 code that changed in 2002"],
  ["SS", true, "South Sudan", "The youngest entry, assigned in 2011"],
];

export function welcome() {
  const story = ([alpha2Code, isCurrent, title, text]) =>
    el("li", {}, el("a", { href: `#/${alpha2Code}` }, flag({ alpha2Code, isDeleted: !isCurrent }), el("strong", {}, title), el("span", {}, text)));
  return [
    el(
      "section",
      { className: "welcome" },
      el("h1", {}, "Every country code, and everything it ever meant"),
      el("p", {}, "Choose a country, then move through time: each change since 1974 is a version of its own, and no version was ever overwritten."),
      el("ul", { className: "stories" }, ...STORIES.map(story)),
    ),
    latestPanel(),
    el("p", { className: "lead" }, el("a", { href: "#/import" }, "Import a list"), ", for operators"),
  ];
}
