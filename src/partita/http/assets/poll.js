// Looking again: what a page shows is read every few seconds while somebody looks, and at once after a change.

import { connection } from "./connection.js";
import { latest } from "./latest.js";

const AGAIN = 5000; // after what was refused

// `every()` says after how many milliseconds. `read()` asks, `show(answer)` draws, and `failed(error)` hears of what is refused; a lost connection has its own bar.
// Gives `now()`, to be called after a change: a look that began before it shows nothing any more. `signal` ends all of it,
// also what is under way.
export function poll({ every, read, show, failed = () => {}, signal }) {
  const ask = latest();
  let [timer, isRefused] = [null, false];
  const later = () => {
    clearTimeout(timer);
    if (!signal.aborted) timer = setTimeout(look, isRefused ? Math.min(every(), AGAIN) : every());
  };
  const look = () => (document.hidden || connection.isLost ? later() : now());
  const alive = (work) => (given) => (signal.aborted ? undefined : work(given));
  const shown = (answer) => {
    isRefused = false;
    return show(answer);
  };
  const refused = (error) => {
    if (error.status === undefined) throw error;
    isRefused = true;
    return failed(error);
  };

  async function now() {
    if (signal.aborted) return;
    clearTimeout(timer);
    try {
      await ask(read, alive(shown), alive(refused));
    } finally {
      later();
    }
  }

  document.addEventListener("visibilitychange", () => { if (!document.hidden) now(); }, { signal });
  connection.onRegained(now, signal);
  later();
  return now;
}
