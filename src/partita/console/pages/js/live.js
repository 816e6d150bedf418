// The current figures, read every two seconds while the page is visible.

import { NO_RESPONSE } from "/assets/api.js";
import { poll } from "/assets/poll.js";
import * as api from "./api.js";

const EVERY = 2000;
const { signal: always } = new AbortController();
const watchers = new Set();
let newest = null;

// Calls `show` with the figures now and after each update, until `signal` aborts. Before the first update they are null.
export function watch(show, signal = always) {
  watchers.add(show);
  signal.addEventListener("abort", () => watchers.delete(show));
  show(newest);
}

function take(figures) {
  newest = figures;
  for (const show of watchers) show(newest);
}

// If reading fails, the figures stay as they are. A lost connection is shown separately.
export const refresh = poll({ every: () => EVERY, read: api.live, show: take, failed: ({ status }) => newest && take({ ...newest, healthy: false, isAway: status === NO_RESPONSE }), signal: always });
