// Keyboard shortcuts: on the card that has the focus, and anywhere.

import { button, openDialog } from "/assets/dialog.js";
import { el } from "/assets/dom.js";

const HELP = [
  ["N", "new task"],
  ["/", "search"],
  ["← ↑ ↓ →", "go to another card"],
  ["Shift ← →", "move the card to another column"],
  ["Enter", "open the card"],
  ["C", "complete or reopen the card"],
  ["X", "select the card"],
  ["Delete", "delete the card"],
  ["Escape", "stop selecting"],
  ["?", "this list"],
];

export function listen(board, search) {
  const anywhere = {
    n: () => board.compose(),
    "/": () => search.focus(),
    "?": () => help(),
    Escape: () => board.isSelecting && board.stopSelecting(),
  };
  const onCard = {
    ArrowUp: (task) => board.go(board.beside(task, -1)),
    ArrowDown: (task) => board.go(board.beside(task, 1)),
    ArrowLeft: (task) => board.go(board.across(task, -1)),
    ArrowRight: (task) => board.go(board.across(task, 1)),
    c: (task) => board.complete(task),
    x: (task) => board.toggle(task),
    Delete: (task) => board.remove(task),
  };
  const withShift = {
    ArrowLeft: (task) => board.step(task, -1),
    ArrowRight: (task) => board.step(task, 1),
  };

  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || event.defaultPrevented) return;
    if (document.querySelector("dialog[open]")) return;
    if (event.target.closest("textarea, select, input:not([type=checkbox])")) return;
    const task = board.focused;
    const key = event.key.length === 1 ? event.key.toLowerCase() : event.key;
    const work = (task && (event.shiftKey ? withShift[key] : onCard[key])) || anywhere[key] || start(key);
    if (!work) return;
    event.preventDefault();
    work(task);
  });

  // From anywhere else, the arrow down leads to the board.
  const start = (key) => (key === "ArrowDown" && !board.focused ? () => board.first() : undefined);
}

export function help() {
  const list = el("dl", {}, ...HELP.flatMap(([key, meaning]) => [el("dt", {}, ...key.split(" ").map((part) => el("kbd", {}, part))), el("dd", {}, meaning)]));
  const close = button("Close", "primary");
  openDialog({ title: "Keyboard shortcuts", body: [list], buttons: [close], className: "help" });
  close.focus();
}
