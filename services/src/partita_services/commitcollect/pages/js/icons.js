// The icons of the page.

import { line } from "/assets/dom.js";

const SHOE = "M3 17v-7l3.5 2 3.5-4 4.5 4.5 6.5 2V17zM3 20h18";
const PATHS = {
  Run: SHOE,
  TrailRun: SHOE,
  Walk: SHOE,
  Hike: "M2.5 19l6.5-12 4 7 2-3 6.5 8z",
  Ride: "M9.5 16a3.5 3.5 0 1 1-7 0 3.5 3.5 0 0 1 7 0zM21.5 16a3.5 3.5 0 1 1-7 0 3.5 3.5 0 0 1 7 0zM6 16l4-8h5l3 8M8.5 11H16M14 5.5h3",
  Swim: "M2 11q2.5-3 5 0t5 0 5 0 5 0M2 17q2.5-3 5 0t5 0 5 0 5 0",
  other: "M2.5 12h4l3-7 5 14 3-7h4",
  plus: "M12 5v14M5 12h14",
  check: "M5 12.5l4.5 4.5L19 7.5",
  close: "M6 6l12 12M18 6L6 18",
  sync: "M20 12a8 8 0 0 1-14.5 4.6M4 12a8 8 0 0 1 14.5-4.6M18.5 3v4.5H14M5.5 21v-4.5H10",
};

export const icon = (name) => line(PATHS[name] ?? PATHS.other);
