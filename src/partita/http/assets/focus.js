// The focus is never lost: when the element that has it is removed, the control that took its place gets it, or the nearest one.

const CONTROLS = "a[href], button:not(:disabled), summary, [tabindex]"; // no fields: they would open the keyboard of a phone
const MOST = 4;
let places = []; // of the elements that had the focus last: the parents of each, and where it was in them

document.addEventListener("focusin", ({ target }) => {
  const parents = [];
  for (let each = target; each.parentElement && each.parentElement !== document.body; each = each.parentElement) {
    parents.push([each.parentElement, [...each.parentElement.children].indexOf(each)]);
  }
  places = [{ target, parents }, ...places.filter((place) => place.target !== target)].slice(0, MOST);
});

let isAsked = false;
new MutationObserver(() => {
  if (isAsked || !isLost()) return;
  isAsked = true;
  requestAnimationFrame(() => { // the page may set the focus itself
    isAsked = false;
    if (isLost()) (places.map(nearest).find(Boolean) ?? start())?.focus({ preventScroll: true });
  });
}).observe(document.body, { childList: true, subtree: true });

const isLost = () => document.activeElement === document.body && places.length > 0 && !places[0].target.isConnected;

// Where the link that skips the header leads.
const start = () => document.querySelector(document.querySelector(".skip")?.getAttribute("href") ?? "main");

function nearest({ target, parents }) {
  if (canHold(target)) return target;
  for (const [parent, at] of parents) {
    if (!parent.isConnected) continue;
    const beside = [parent.children[at], parent.children[at - 1], parent].filter(Boolean);
    const found = beside.flatMap((each) => [each, ...each.querySelectorAll(CONTROLS)]).find(canHold);
    if (found) return found;
  }
  return null;
}

function canHold(element) {
  if (!element.isConnected || !element.matches(`${CONTROLS}, input, select, textarea`) || !element.checkVisibility({ visibilityProperty: true })) return false;
  const modal = [...document.querySelectorAll("dialog:modal")].at(-1);
  return !modal || modal.contains(element);
}
