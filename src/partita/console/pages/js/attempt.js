// A form made of a pattern's parameters, and what a run of it gave: request, cost, items, and the way to the next page.

import * as api from "./api.js";
import { cost } from "./figures.js";
import { refresh } from "./live.js";
import { table } from "./parts.js";
import { onToken, signIn } from "./signin.js";
import { el, replace } from "/assets/dom.js";

const KEPT = "partita-console-arguments"; // what was asked for last, by the name of the parameter

const kept = () => JSON.parse(sessionStorage.getItem(KEPT) ?? "{}");

export function attemptForm(service, pattern) {
  const place = el("div", { className: "attempt" });
  const show = (reason = "") => replace(place, api.token.get() ? form(service, pattern, show) : signIn(reason));
  onToken(() => place.isConnected && show());
  show();
  return place;
}

function form(service, pattern, show) {
  const fields = pattern.parameters.map(field);
  const limit = pattern.kind === "query" ? el("select", { name: "limit" }, [10, 20, 50, 100].map((count) => el("option", { selected: count === 20 }, String(count)))) : null;
  const answer = el("div", { className: "answer", ariaLive: "polite" });
  const said = el("p", { className: "wrong", role: "alert" });
  const read = async (pages) => {
    const texts = Object.fromEntries(fields.map(({ name, text }) => [name, text()]));
    sessionStorage.setItem(KEPT, JSON.stringify({ ...kept(), ...texts }));
    replace(said);
    try {
      const found = await api.attempt({ service: service.name, pattern: pattern.name, arguments: texts, limit: Number(limit?.value ?? 20), cursor: pages.at(-1) ?? null });
      replace(answer, outcome(found, pages, read));
      refresh();
    } catch (error) {
      if (!(error instanceof api.Refused)) throw error;
      if (error.status === 401) { api.token.forget(); return show(`${error.message} ${error.hint}`); }
      replace(said, `${error.message} ${error.hint}`);
      replace(answer);
    }
  };
  const submit = (event) => { event.preventDefault(); read([]); };
  return el(
    "form",
    { className: "try", onsubmit: submit },
    el("div", { className: "inputs" }, fields.map(({ element }) => element), limit ? el("label", { className: "field short" }, el("span", {}, "Items"), limit) : null, el("button", { className: "button primary", type: "submit" }, "Read")),
    said,
    answer,
  );
}

function field(parameter) {
  const last = kept()[parameter.name] ?? "";
  const ends = parameter.is_range ? last.padEnd(2, ".").split("..") : [last];
  const inputs = ends.slice(0, 2).map((value) => input(parameter, value));
  const name = parameter.name.replaceAll("_", " ") + (parameter.is_prefix ? " begins with" : "");
  const labelled = (label, control) => el("label", { className: "field" }, el("span", {}, label), control);
  const element = parameter.is_range ? el("div", { className: "pair" }, labelled(`${name} from`, inputs[0]), labelled("to", inputs[1])) : labelled(name, inputs[0]);
  return { name: parameter.name, element, text: () => inputs.map(({ value }) => value).join("..") };
}

function input(parameter, value) {
  const required = !parameter.is_range;
  if (parameter.form === "choice") {
    const options = [parameter.is_range ? "" : null, ...parameter.choices].filter((choice) => choice !== null);
    return el("select", { required }, options.map((choice) => el("option", { selected: choice === value }, choice)));
  }
  if (parameter.form === "json") return el("textarea", { required, rows: 3, spellcheck: false, placeholder: "JSON", value });
  const isInstant = parameter.form === "instant";
  return el("input", { type: isInstant ? "text" : parameter.form, placeholder: isInstant ? "2026-01-31T12:00Z" : "", required, value, autocomplete: "off", spellcheck: false, step: parameter.form === "number" ? "any" : undefined });
}

function outcome(found, pages, read) {
  const isOver = found.budget && (found.consumed.read > found.budget.read || found.consumed.write > found.budget.write);
  const facts = [
    ["Sent", `${found.requests_sent} ${found.call} on ${found.index ?? "the table"}`],
    ["Predicted", `${cost(found.predicted)} with items of ${found.assumed_item_bytes / 1024} KB`],
    ["Budget", found.budget ? cost(found.budget) : "none"],
    ["Consumed", cost(found.consumed), isOver ? "wrong" : "right"],
  ];
  const more = found.next_cursor ? el("button", { className: "button", type: "button", onclick: () => read([...pages, found.next_cursor]) }, "Next page") : null;
  const back = pages.length ? el("button", { className: "button", type: "button", onclick: () => read(pages.slice(0, -1)) }, "Previous page") : null;
  const count = found.items.length === 1 ? "1 item" : `${found.items.length} items`;
  return [
    el("dl", { className: "facts-row" }, facts.map(([label, text, className]) => el("div", {}, el("dt", {}, label), el("dd", { className: className ?? "" }, text)))),
    el("details", {}, el("summary", {}, "The request, as DynamoDB gets it"), el("pre", { tabIndex: 0 }, JSON.stringify(found.request, null, 2))),
    found.items.length ? items(found.items) : null,
    el("p", { className: "paging" }, el("span", {}, found.items.length ? `${count}, page ${pages.length + 1}` : "Nothing was found."), back, more),
  ];
}

function items(found) {
  if (!found.every((item) => item !== null && typeof item === "object" && !Array.isArray(item))) return el("pre", { tabIndex: 0 }, JSON.stringify(found, null, 2));
  const names = [...new Set(found.flatMap(Object.keys))];
  return table(names, found.map((item) => names.map((name) => shown(item[name]))), "items");
}

function shown(value) {
  if (value === null || value === undefined) return el("span", { className: "absent" }, "–");
  return typeof value === "object" ? el("code", {}, JSON.stringify(value)) : String(value);
}
