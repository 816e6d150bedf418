// The page of an API: find operations, and open the one that the address names. The page works without this script.

const at = (id) => document.getElementById(id);
const [find, all, found, nothing] = ["find", "all", "found", "nothing"].map(at);
const operations = [...document.querySelectorAll(".operation")];
const texts = new Map(operations.map((each) => [each, each.textContent.toLowerCase()]));
const entries = new Map([...document.querySelectorAll(".contents a")].map((link) => [decodeURIComponent(link.hash.slice(1)), link.parentElement]));

function show() {
  const words = find.value.toLowerCase().split(/\s+/).filter(Boolean);
  const matching = operations.filter((each) => words.every((word) => texts.get(each).includes(word)));
  for (const each of operations) {
    each.hidden = !matching.includes(each);
    const entry = entries.get(each.id);
    if (entry) entry.hidden = each.hidden;
  }
  for (const group of document.querySelectorAll(".group")) group.hidden = !group.querySelector(".operation:not([hidden])");
  for (const part of document.querySelectorAll(".contents > ul > li")) part.hidden = !part.querySelector("li:not([hidden])");
  nothing.hidden = matching.length > 0;
  found.textContent = words.length ? `${matching.length} of ${operations.length} operations` : "";
}

function goTo() {
  const named = at(decodeURIComponent(location.hash.slice(1)));
  if (!named?.matches(".operation")) return;
  if (named.hidden) {
    find.value = "";
    show();
  }
  named.open = true;
  named.scrollIntoView();
}

find.addEventListener("input", show);
find.addEventListener("keydown", (event) => {
  if (event.key !== "Escape" || !find.value) return;
  event.preventDefault();
  find.value = "";
  show();
});
all.addEventListener("click", () => {
  const isOpen = all.textContent === "Open all";
  for (const each of operations) each.open = isOpen && !each.hidden;
  all.textContent = isOpen ? "Close all" : "Open all";
});
document.addEventListener("keydown", (event) => {
  if (event.key !== "/" || event.target.closest("input, textarea, select")) return;
  event.preventDefault();
  find.focus();
});
addEventListener("hashchange", goTo);
find.parentElement.hidden = false;
show(); // after Back, a browser restores what was typed
goTo();
