// Polling: the content of a page is read every few seconds while the page is visible, and at once after a change.

import { connection } from "./connection.js";
import { latest } from "./latest.js";

const AGAIN = 5000; // the longest pause after a refused request

// `every()` returns the interval in milliseconds. `read()` sends the request, `show(answer)` draws the result, and
// `failed(error)` is called if the service refuses; a lost connection has its own bar. Returns `now()`, to be called after a
// change: the result of a request that began before it is no longer shown. `signal` ends everything, including a request
// that is under way.
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
