// One service: its figures, followed by its access patterns, keys or entities.

import { age, depth, lag, number, totals, workers } from "./figures.js";
import { watch } from "./live.js";
import { frame, table, template } from "./parts.js";
import { patternList } from "./patterns.js";
import { el, write } from "/assets/dom.js";
import { kept, KeyedList } from "/assets/list.js";

const PARTS = [["patterns", "Access patterns"], ["keys", "Keys"], ["entities", "Entities"]];

// `signal` aborts when the page is left.
export function servicePage(service, part, chosen, signal) {
  const shown = { patterns: () => patternList(service, chosen, signal), keys: () => keys(service), entities: () => entities(service) }[part]();
  const links = [service.page ? el("a", { href: service.page }, "Open page") : null, service.api ? el("a", { href: `/api-docs/${service.name}` }, "API") : null];
  return el(
    "section",
    { className: "service" },
    el("header", {}, el("div", {}, el("h1", {}, service.title), el("p", { className: "soft" }, service.summary)), el("p", { className: "links" }, links)),
    tiles(service, signal),
    shards(service, signal),
    el("nav", { className: "parts", ariaLabel: `Parts of ${service.title}` }, PARTS.map(([name, label]) => el("a", { href: `#/${service.name}/${name}`, ariaCurrent: name === part ? "page" : null }, label))),
    shown,
  );
}

function tiles(service, signal) {
  const list = el("dl", { className: "tiles" });
  const tile = (label, text, isWrong = () => false) => {
    const value = el("dd", {});
    list.append(el("div", {}, el("dt", {}, label), value));
    return (sum, live) => {
      write(value, text(sum, live));
      value.classList.toggle("wrong", isWrong(sum, live));
    };
  };
  const updates = [
    tile("Runs", (sum) => number(sum.runs)),
    tile("Read", (sum) => `${number(sum.read)} RCU`),
    tile("Written", (sum) => `${number(sum.write)} WCU`),
    tile("Over budget", (sum) => number(sum.over_budget), (sum) => sum.over_budget > 0),
    tile("Conflicts", (sum) => number(sum.conflicts)),
    tile("Throttled", (sum) => number(sum.throttles), (sum) => sum.throttles > 0),
    tile("Failed", (sum) => number(sum.failures - sum.conflicts), (sum) => sum.failures > sum.conflicts),
  ];
  if (service.works) updates.push(tile("Workers", (_, live) => workers(live, service)));
  if (service.projected) updates.push(tile("Projection", (_, live) => (live?.lag[service.name] ? lag(live.lag[service.name]) : "not running")));
  for (const queue of service.queues) updates.push(tile(service.queues.length > 1 ? `Queue ${queue}` : "Queue", (_, live) => (live?.queues[queue] ? depth(live.queues[queue]) : "not open"), (_, live) => live?.queues[queue]?.dead > 0));
  watch((live) => {
    const sum = totals(live, service);
    for (const update of updates) update(sum, live);
  }, signal);
  return list;
}

// Which process reads which shard of the streams of the service's tables, if workers share them; hidden otherwise.
function shards(service, signal) {
  const tables = new Set(service.tables.map((each) => each.name));
  const key = ({ table: of, sink, shard }) => `${of} ${sink} ${shard}`;
  const row = (shard) => el("tr", {}, [shard.table, shard.sink, el("code", {}, shard.shard), shard.owner ?? "none", shard.lag_seconds === null ? "unknown" : age(shard.lag_seconds)].map((cell) => el("td", {}, cell)));
  const body = el("tbody", {});
  const list = new KeyedList(body, { key, draw: row, spacer: "tr", signal });
  const place = el("section", { className: "panel shards", hidden: true }, el("h2", {}, "Shards"), frame(["Table", "Into", "Shard", "Read by", "Lag"], body));
  watch((live) => {
    const found = (live?.shards ?? []).filter((shard) => tables.has(shard.table));
    list.show(kept(list.items, found, key));
    place.hidden = !found.length;
  }, signal);
  return place;
}

function keys(service) {
  return el("div", {}, service.tables.map((each) => {
    const rows = each.layout.map((key) => [el("code", {}, `${key.entity}.${key.key}`), `${key.index ?? "table"}${key.when ? `, while ${key.when}` : ""}`, template(key.hash), key.range ? template(key.range) : ""]);
    return el("section", { className: "panel" }, el("h2", {}, each.name), el("ul", { className: "chips" }, facts(each).map((fact) => el("li", {}, fact))), table(["Key", "In", "Partition key", "Sort key"], rows, { name: `Keys of ${each.name}` }));
  }));
}

function facts(each) {
  const indexes = each.indexes.map((index) => `${index.vector ? "vector index" : index.local ? "local index" : "index"} ${index.name}: ${[...(index.vector ? [index.vector] : []), ...index.key].join(", ")}${index.projection === "ALL" ? "" : `, ${[].concat(index.projection).join(", ")}`}`);
  return [`key ${each.key.join(", ")}`, ...(each.ttl ? [`expires by ${each.ttl}`] : []), ...(each.stream ? [`stream ${each.stream}`] : []), ...indexes];
}

function entities(service) {
  const shown = service.tables.flatMap((each) => each.entities.map((entity) => [each, entity]));
  return el("div", { className: "entities" }, shown.map(([each, entity]) => el(
    "section",
    { className: "panel" },
    el("h2", {}, entity.name),
    el("p", { className: "soft" }, entity.doc),
    el("ul", { className: "chips" }, el("li", {}, each.name), entity.version ? el("li", {}, `guarded by ${entity.version}`) : null, entity.expires ? el("li", {}, `expires by ${entity.expires}`) : null),
    el("dl", { className: "fields" }, entity.fields.map((field) => el("div", {}, el("dt", {}, el("code", {}, field.in_key ? el("b", {}, field.name) : field.name)), el("dd", {}, field.in_key ? `${field.type}, in the key` : field.optional ? `${field.type}, optional` : field.type)))),
  )));
}
