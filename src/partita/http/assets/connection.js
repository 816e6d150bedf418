// Whether the server can be reached: shows a bar while it cannot, and notifies listeners that may have to read again.

import { el, takesRoom } from "./dom.js";

const PROBES = [1000, 2000, 4000, 8000];

class Connection {
  #isLost = false;
  #tries = 0;
  #timer = null;
  #listeners = new Set();
  #bar = null;

  get isLost() {
    return this.#isLost;
  }

  // Calls `listener` whenever the server can be reached again, until `signal` ends it.
  onRegained(listener, signal) {
    this.#listeners.add(listener);
    signal?.addEventListener("abort", () => this.#listeners.delete(listener));
  }

  lost() {
    if (this.#isLost) return;
    this.#isLost = true;
    this.#tries = 0;
    this.#draw("Connection lost. What you see may be out of date; trying again…");
    this.#probeLater();
  }

  regained() {
    if (!this.#isLost) return;
    this.#isLost = false;
    clearTimeout(this.#timer);
    this.#draw("");
    for (const listener of this.#listeners) listener();
  }

  probe = async () => {
    clearTimeout(this.#timer);
    const isThere = await fetch("/healthz", { cache: "no-store" }).then(() => true, () => false);
    if (isThere) this.regained();
    else if (this.#isLost) this.#probeLater();
  };

  #probeLater() {
    this.#timer = setTimeout(this.probe, PROBES[Math.min(this.#tries, PROBES.length - 1)]);
    this.#tries += 1;
  }

  // The live region must exist before its text, otherwise screen readers do not announce it.
  #draw(text) {
    if (!this.#bar) {
      this.#bar = el("div", { className: "connection-bar", role: "status" });
      document.body.append(this.#bar);
      takesRoom(this.#bar, "--bar");
    }
    this.#bar.replaceChildren(...(text ? [el("span", {}, text), el("button", { className: "button", type: "button", onclick: this.probe }, "Try now")] : []));
  }
}

export const connection = new Connection();

addEventListener("offline", () => connection.lost());
addEventListener("online", () => connection.probe());
