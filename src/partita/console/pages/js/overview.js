// All services at a glance, and which access patterns consume the most.

import { cost, depth, lag, number, totals, workers } from "./figures.js";
import { watch } from "./live.js";
import { table } from "./parts.js";
import { el, replace, write } from "/assets/dom.js";

const BUSIEST = 8;

export function overview(services) {
  const busiest = el("div", {});
  const page = el(
    "section",
    { className: "overview" },
    el("h1", {}, "What the services declare, and what they consume"),
    el("ul", { className: "cards" }, services.map(card)),
    el("h2", {}, "Busiest access patterns"),
    busiest,
  );
  watch(page, (live) => replace(busiest, ranking(services, live)));
  return page;
}

function card(service) {
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
  watch(made, (live) => {
    const sum = totals(live, service);
    shown.forEach(([, text], index) => write(values[index], text(sum)));
    write(note, notes(service, live, sum));
    note.classList.toggle("wrong", sum.over_budget > 0);
  });
  return made;
}

function notes(service, live, sum) {
  const parts = [`${service.patterns.length} access patterns`];
  if (sum.over_budget) parts.push(`${number(sum.over_budget)} over budget`);
  if (service.works) parts.push(`workers: ${workers(live, service)}`);
  if (live?.lag[service.name]) parts.push(`projection ${lag(live.lag[service.name])}`);
  for (const name of service.queues) if (live?.queues[name]) parts.push(`queue ${depth(live.queues[name])}`);
  return parts.join(" · ");
}

function ranking(services, live) {
  const ran = services.flatMap((service) => used(service, live)).sort((a, b) => b.usage.read + b.usage.write - a.usage.read - a.usage.write);
  if (!ran.length) return el("p", { className: "soft" }, "Nothing has run since the server was started.");
  const rows = ran.slice(0, BUSIEST).map(({ service, pattern, usage }) => [
    pattern ? el("a", { href: `#/${service.name}/patterns/${pattern.name}` }, el("code", {}, pattern.name)) : el("code", {}, usage.name),
    service.title,
    number(usage.runs),
    cost(usage),
    cost({ read: usage.read / usage.runs, write: usage.write / usage.runs }),
    pattern?.budget ? cost(pattern.budget) : "none",
  ]);
  return table(["Pattern", "Service", "Runs", "Consumed", "Each", "Budget"], rows, "numbers");
}

// What a recipe runs under a name of its own is not a declared pattern of the service.
function used(service, live) {
  const patterns = new Map(service.patterns.map((pattern) => [pattern.name, pattern]));
  const usages = Object.values(live?.usage[service.name] ?? {}).filter((usage) => usage.runs);
  return usages.map((usage) => ({ service, pattern: patterns.get(usage.name), usage }));
}
