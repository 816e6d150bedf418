// The icons of the board.

import { line } from "/assets/dom.js";

const PATHS = {
  check: "M5 12.5l4.5 4.5L19 7.5",
  plus: "M12 5v14M5 12h14",
  bin: "M4 7h16M9 7V4h6v3M6.5 7l1 13h9l1-13",
  flag: "M6 21V4h12l-3 4 3 4H6",
  calendar: "M4 6h16v14H4zM4 10h16M8 3v4M16 3v4",
  tag: "M4 4h8l8 8-8 8-8-8zM8.5 8.5h.01",
  close: "M6 6l12 12M18 6L6 18",
  person: "M12 12a4 4 0 1 0 0-8 4 4 0 0 0 0 8zM4 21c0-4 3.6-6 8-6s8 2 8 6",
  keys: "M3 7h18v10H3zM7 11h.01M11 11h.01M15 11h.01M17 14H8",
};

export const icon = (name) => line(PATHS[name]);
