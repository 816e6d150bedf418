// Moving cards: dragged with a mouse, or held and moved with a finger, onto a column or, on a phone, onto its tab.

const HOLD = 350; // milliseconds until a finger lifts a card; before that it scrolls
const STILL = 10; // pixels that a finger may move without ending the hold

// Makes `item` movable; `drop(id, status)` is called when a finger drops it on a column or tab.
export function liftable(item, id, drop) {
  item.addEventListener("dragstart", (event) => {
    event.dataTransfer.setData("text/plain", id);
    event.dataTransfer.effectAllowed = "move";
    item.classList.add("dragged");
  });
  item.addEventListener("dragend", () => item.classList.remove("dragged"));
  item.addEventListener("touchstart", (event) => event.touches.length === 1 && hold(item, event.touches[0], (status) => drop(id, status)), { passive: true });
}

// Waits until the finger has held still, then follows it.
function hold(item, { clientX, clientY }, drop) {
  const ended = new AbortController();
  const { signal } = ended;
  let hand = null;
  const timer = setTimeout(() => { hand = lift(item, clientX, clientY); }, HOLD);
  const end = () => {
    clearTimeout(timer);
    ended.abort();
    hand?.end();
  };
  const move = (event) => {
    const { clientX: x, clientY: y } = event.touches[0];
    if (hand) {
      event.preventDefault(); // the page stays where it is
      hand.follow(x, y);
    } else if (Math.hypot(x - clientX, y - clientY) > STILL) end();
  };
  const release = (event) => {
    const status = hand?.over;
    if (hand) event.preventDefault(); // no click follows
    end();
    if (status) drop(status);
  };
  item.addEventListener("touchmove", move, { passive: false, signal });
  item.addEventListener("touchend", release, { passive: false, signal });
  item.addEventListener("touchcancel", end, { signal });
  item.addEventListener("contextmenu", (event) => event.preventDefault(), { signal });
}

function lift(item, x, y) {
  const box = item.getBoundingClientRect();
  const ghost = item.cloneNode(true);
  ghost.className = "card ghost";
  ghost.inert = true;
  ghost.removeAttribute("data-id");
  ghost.removeAttribute("data-key");
  ghost.style.width = `${box.width}px`;
  document.body.append(ghost);
  item.classList.add("dragged");
  navigator.vibrate?.(15);
  const hand = { over: null, follow, end };

  function follow(toX, toY) {
    ghost.style.transform = `translate(${box.left + toX - x}px, ${box.top + toY - y}px) rotate(2deg)`;
    const target = document.elementFromPoint(toX, toY)?.closest(".column, .tabs [data-status]");
    for (const other of document.querySelectorAll(".over")) if (other !== target) other.classList.remove("over");
    target?.classList.add("over");
    hand.over = target?.dataset.status ?? null;
  }

  function end() {
    ghost.remove();
    item.classList.remove("dragged");
    for (const other of document.querySelectorAll(".over")) other.classList.remove("over");
    item.dispatchEvent(new Event("dragend", { bubbles: true }));
  }

  follow(x, y);
  return hand;
}

// Makes a column accept cards that are dragged with the mouse.
export function takeDrops(section, drop) {
  section.addEventListener("dragover", (event) => {
    event.preventDefault();
    section.classList.add("over");
  });
  section.addEventListener("dragleave", (event) => {
    if (!section.contains(event.relatedTarget)) section.classList.remove("over");
  });
  section.addEventListener("drop", (event) => {
    event.preventDefault();
    section.classList.remove("over");
    drop(event.dataTransfer.getData("text/plain"));
  });
}
