// The access patterns of a service with their consumption. A pattern opens to show its request, and a form to try it.

import { attemptForm } from "./attempt.js";
import { cost, number, share, usageOf } from "./figures.js";
import { watch } from "./live.js";
import { template } from "./parts.js";
import { el, replace, write } from "/assets/dom.js";
import { KeyedList } from "/assets/list.js";

export function patternList(service, chosen, signal) {
  const rows = service.patterns.map((pattern) => ({ pattern, element: row(service, pattern, pattern.name === chosen, signal) }));
  const list = el("ul", { className: "patterns" });
  const drawn = new KeyedList(list, { key: ({ pattern }) => pattern.name, draw: ({ element }) => element, signal }); // a row is created once
  const none = el("p", { className: "soft", role: "status", hidden: true }, "No access pattern matches.");
  const find = (event) => {
    const words = event.target.value.toLowerCase();
    const found = rows.filter(({ pattern }) => `${pattern.name} ${pattern.doc} ${pattern.kind} ${pattern.served_by}`.toLowerCase().includes(words));
    drawn.show(found);
    none.hidden = found.length > 0;
  };
  drawn.show(rows);
  const search = el("input", { type: "search", id: "find", placeholder: "Find an access pattern", autocomplete: "off", spellcheck: false, oninput: find });
  return el("div", {}, el("h2", { className: "hidden" }, "Access patterns"), el("div", { className: "search" }, el("label", { className: "hidden", htmlFor: "find" }, "Find an access pattern"), search, el("kbd", { ariaHidden: "true" }, "/")), list, none);
}

function row(service, pattern, isOpen, signal) {
  const runs = el("span", { className: "runs" });
  const bar = el("span", { className: "bar" }, el("span", {}));
  const most = el("span", { className: "most" });
  const inside = el("div", { className: "inside", hidden: true });
  const parameters = Object.keys(pattern.signature).join(", ");
  const button = el(
    "button",
    { className: "head", type: "button", ariaExpanded: "false", onclick: () => toggle(!inside.childElementCount || inside.hidden) },
    el("span", { className: "what" }, el("code", {}, el("b", {}, pattern.name), `(${parameters})`), el("span", { className: "doc" }, pattern.doc.split("\n")[0])),
    el("span", { className: "how" }, el("span", { className: `kind ${pattern.kind}` }, pattern.kind), pattern.served_by === "-" ? null : el("span", { className: "by" }, pattern.served_by)),
    el("span", { className: "budget" }, bar, most),
    runs,
  );
  const made = el("li", { className: "pattern", id: `pattern-${pattern.name}` }, button, inside);
  const toggle = (open) => {
    if (open && !inside.childElementCount) replace(inside, details(service, pattern, signal));
    inside.hidden = !open;
    button.ariaExpanded = String(open);
    if (open) history.replaceState(null, "", `#/${service.name}/patterns/${pattern.name}`);
  };
  watch((live) => {
    const usage = usageOf(live, service, pattern);
    const part = share(usage, pattern.budget);
    write(runs, usage.runs ? `${number(usage.runs)} ${usage.runs === 1 ? "run" : "runs"}, ${cost(usage)}` : "not run yet");
    write(most, pattern.budget ? `${part === null ? "" : `max ${cost({ read: usage.max_read, write: usage.max_write })} of `}${cost(pattern.budget)}${withRecord(usage, pattern.budget)}` : "no budget");
    bar.firstChild.style.width = `${Math.min(100, 100 * (part ?? 0))}%`;
    bar.classList.toggle("over", usage.over_budget > 0);
  }, signal);
  if (isOpen) {
    toggle(true);
    requestAnimationFrame(() => { made.scrollIntoView({ block: "center" }); button.focus({ preventScroll: true }); });
  }
  return made;
}

function details(service, pattern, signal) {
  const types = Object.entries(pattern.signature).map(([name, type]) => el("li", {}, el("code", {}, `${name}: ${type}`)));
  const asked = pattern.asked.map((part) => el("li", {}, el("code", {}, part.attribute), ` ${part.relation} `, template(part.template)));
  const facts = el("div", { className: "facts" }, asked.length ? el("div", {}, el("h3", {}, "Key condition"), el("ul", {}, asked)) : null, types.length ? el("div", {}, el("h3", {}, "Parameters"), el("ul", {}, types)) : null);
  const trial = pattern.parameters ? attemptForm(service, pattern, signal) : el("p", { className: "soft" }, pattern.closed);
  return [facts, trial];
}

// An idempotent command may consume more than its pattern declares: the record of its key is added.
function withRecord(usage, budget) {
  const isMore = usage.max_read > budget.read || usage.max_write > budget.write;
  return isMore && !usage.over_budget ? ", plus its idempotency record" : "";
}
