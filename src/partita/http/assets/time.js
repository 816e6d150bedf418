// The time of the server. What a page shows as open, late or due does not depend on the clock of the machine it is on.

const SECOND = 1000;
let [least, most] = [-Infinity, Infinity]; // of the server's time less the time since the page was opened

// Every response narrows it: the server's time was within the second that it says, while it was asked.
export function noteTime(date, asked, answered) {
  const said = Date.parse(date ?? "");
  if (Number.isNaN(said)) return;
  const [from, to] = [said - answered, said + SECOND - asked];
  if (to <= least || from >= most) [least, most] = [from, to]; // a clock was set
  else [least, most] = [Math.max(least, from), Math.min(most, to)];
}

// In milliseconds, as Date.now().
export const now = () => (Number.isFinite(least) ? Math.round(performance.now() + (least + most) / 2) : Date.now());
