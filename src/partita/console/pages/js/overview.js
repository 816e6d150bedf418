// An overview of all services, and the access patterns that consume the most.

import { cost, depth, lag, number, totals, workers } from "./figures.js";
import { watch } from "./live.js";
import { frame } from "./parts.js";
import { el, write } from "/assets/dom.js";
import { kept, KeyedList } from "/assets/list.js";

const BUSIEST = 8;

// `signal` aborts when the page is left.
export function overview(services, signal) {
  const busiest = ranking(services, signal);
  const page = el(
    "section",
    { className: "overview" },
    el("h1", {}, "The services, and what they consume"),
    el("ul", { className: "cards" }, services.map((service) => card(service, signal))),
    el("h2", {}, "Busiest access patterns"),
    busiest,
  );
  return page;
}

function card(service, signal) {
  const figures = el("dl", { className: "figures" });
  const shown = [["Runs", (sum) => number(sum.runs)], ["Read", (sum) => `${number(sum.read)} RCU`], ["Written", (sum) => `${number(sum.write)} WCU`]];
  const values = shown.map(([label]) => {
    const value = el("dd", {});
    figures.append(el("div", {}, el("dt", {}, label), value));
    return value;
  });
  const note = el("p", { className: "note" });
  const link = el("a", { href: `#/${service.name}` }, service.title);
  const made = el("li", { className: "card" }, el("h2", {}, link), el("p", {}, service.summary), figures, note);
  watch((live) => {
    const sum = totals(live, service);
    shown.forEach(([, text], index) => write(values[index], text(sum)));
    write(note, notes(service, live, sum));
    note.classList.toggle("wrong", sum.over_budget > 0);
  }, signal);
  return made;
}

function notes(service, live, sum) {
  const parts = [`${number(service.patterns.length)} access ${service.patterns.length === 1 ? "pattern" : "patterns"}`];
  if (sum.over_budget) parts.push(`${number(sum.over_budget)} over budget`);
  if (service.works) parts.push(`workers: ${workers(live, service)}`);
  if (live?.lag[service.name]) parts.push(`projection: ${lag(live.lag[service.name])}`);
  const of = (name) => (service.queues.length > 1 ? `queue ${name}` : "queue");
  for (const name of service.queues) if (live?.queues[name]) parts.push(`${of(name)}: ${depth(live.queues[name])}`);
  return parts.join(" · ");
}

// A table whose rows are reused while their figures change.
function ranking(services, signal) {
  const none = el("p", { className: "soft" }, "Nothing has run since the server was started.");
  const body = el("tbody", {});
  const list = new KeyedList(body, { key: ({ key }) => key, draw: row, isWhole: true, signal });
  const shown = frame(["Pattern", "Service", "Runs", "Consumed", "Each", "Budget"], body, "numbers");
  watch((live) => {
    const ran = services.flatMap((service) => used(service, live)).sort((a, b) => b.usage.read + b.usage.write - a.usage.read - a.usage.write);
    list.show(kept(list.items, ran.slice(0, BUSIEST), ({ key }) => key));
    none.hidden = ran.length > 0;
    shown.hidden = ran.length === 0;
  }, signal);
  return el("div", {}, none, shown);
}

function row({ service, pattern, usage }) {
  const cells = [
    pattern ? el("a", { href: `#/${service.name}/patterns/${pattern.name}` }, el("code", {}, pattern.name)) : el("code", {}, usage.name),
    service.title,
    number(usage.runs),
    cost(usage),
    cost({ read: usage.read / usage.runs, write: usage.write / usage.runs }),
    pattern?.budget ? cost(pattern.budget) : "none",
  ];
  return el("tr", {}, cells.map((cell) => el("td", {}, cell)));
}

// An operation that a recipe runs under its own name is not a declared pattern of the service.
function used(service, live) {
  const patterns = new Map(service.patterns.map((pattern) => [pattern.name, pattern]));
  const usages = Object.values(live?.usage[service.name] ?? {}).filter((usage) => usage.runs);
  const shown = { name: service.name, title: service.title };
  return usages.map((usage) => ({ key: `${service.name} ${usage.name}`, service: shown, pattern: patterns.get(usage.name), usage }));
}
