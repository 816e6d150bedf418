// The icons of the page.

import { line } from "/assets/dom.js";

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

export const icon = (name) => line(PATHS[name] ?? PATHS.other);
