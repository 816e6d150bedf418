// The current figures, read every two seconds while the page is open.

import * as api from "./api.js";

const EVERY = 2000;
const watchers = new Set();
let newest = null;
let waiting = null;

// Calls `show` with the figures now and whenever they are new, until its element has left the page.
export function watch(element, show) {
  watchers.add({ element, show });
  show(newest);
}

export async function refresh() {
  clearTimeout(waiting);
  newest = await api.live().catch(() => ({ ...(newest ?? { usage: {}, lag: {}, queues: {} }), healthy: false }));
  for (const watcher of watchers) {
    if (watcher.element.isConnected) watcher.show(newest);
    else watchers.delete(watcher);
  }
  clearTimeout(waiting);
  if (!document.hidden) waiting = setTimeout(refresh, EVERY);
}

document.addEventListener("visibilitychange", () => { if (!document.hidden) refresh(); });
