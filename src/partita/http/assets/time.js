// The time of the server, so that what a page shows as open, late or due does not depend on the clock of its machine.

const SECOND = 1000;
let [least, most] = [-Infinity, Infinity]; // bounds of the server's time minus the time since the page was opened

// Narrows the bounds by a response: the server's time was within the second of its `Date`, between request and response.
export function noteTime(date, asked, answered) {
  const said = Date.parse(date ?? "");
  if (Number.isNaN(said)) return;
  const [from, to] = [said - answered, said + SECOND - asked];
  if (to <= least || from >= most) [least, most] = [from, to]; // a clock was set
  else [least, most] = [Math.max(least, from), Math.min(most, to)];
}

// The time in milliseconds, like Date.now().
export const now = () => (Number.isFinite(least) ? Math.round(performance.now() + (least + most) / 2) : Date.now());
