// The icons of the pages.

import { line } from "/assets/dom.js";

const PATHS = {
  check: "M5 12.5l4.5 4.5L19 7.5",
  close: "M6 6l12 12M18 6L6 18",
  dice: "M4 4h16v16H4zM8.5 8.5h.01M15.5 8.5h.01M12 12h.01M8.5 15.5h.01M15.5 15.5h.01",
  download: "M12 4v11M7 10.5l5 5 5-5M5 20h14",
  plus: "M12 5v14M5 12h14",
  queue: "M5 7h14M5 12h9M5 17h5",
  shield: "M12 3l8 3v6c0 5-3.5 8-8 9c-4.5-1-8-4-8-9V6zM8.5 12l2.5 2.5L15.5 10",
};

export const icon = (name) => line(PATHS[name]);
