// A form generated from a pattern's parameters, and the result of a run: request, cost, items, and a button for more.

import { token } from "/assets/api.js";
import { el, replace } from "/assets/dom.js";
import { field, Form } from "/assets/form.js";
import { latest } from "/assets/latest.js";
import * as api from "./api.js";
import { cost } from "./figures.js";
import { ItemTable } from "./items.js";
import { refresh } from "./live.js";
import { onToken, signIn } from "./signin.js";

const KEPT = "partita-console-arguments"; // the last arguments, by the name of the parameter

const kept = () => JSON.parse(sessionStorage.getItem(KEPT) ?? "{}");

// Without a token, shows the sign-in first. Signing in again later keeps the contents of the form.
export function attemptForm(service, pattern, signal) {
  const place = el("div", { className: "attempt" });
  let shown = null;
  const show = () => {
    if (token.get() && shown) return;
    shown = token.get() ? form(service, pattern, signal) : null;
    replace(place, shown ?? signIn());
  };
  onToken(show, signal);
  show();
  return place;
}

function form(service, pattern, signal) {
  const fields = pattern.parameters.map(inputs);
  const limit = pattern.kind === "query" ? el("select", { name: "limit" }, [10, 20, 50, 100].map((count) => el("option", { selected: count === 20 }, String(count)))) : null;
  const answer = el("div", { className: "answer" });
  const ask = latest();
  const short = limit ? field("Items", limit) : null;
  short?.classList.add("short");

  const read = async (found) => {
    const texts = found?.texts ?? Object.fromEntries(fields.map(({ name, text }) => [name, text()]));
    sessionStorage.setItem(KEPT, JSON.stringify({ ...kept(), ...texts }));
    const wanted = { service: service.name, pattern: pattern.name, arguments: texts, limit: Number(limit?.value ?? 20), cursor: found?.cursor ?? null };
    await ask(() => api.attempt(wanted), (page) => {
      if (found) found.add(page);
      else replace(answer, new Outcome(page, texts, (more) => made.send(() => read(more)), signal).element);
      refresh();
    });
  };
  const row = el("div", { className: "inputs" }, fields.map(({ element }) => element), short, el("button", { className: "button primary", type: "submit" }, "Read"));
  const made = new Form({ fields: [row], foot: answer, submit: () => read(null) });
  made.element.classList.add("try");
  return made.element;
}

function inputs(parameter) {
  const last = kept()[parameter.name] ?? "";
  const ends = parameter.is_range ? last.padEnd(2, ".").split("..") : [last];
  const controls = ends.slice(0, 2).map((value) => input(parameter, value));
  const words = parameter.name.replaceAll("_", " ") + (parameter.is_prefix ? " begins with" : "");
  const name = `arguments.${parameter.name}`;
  const label = words[0].toUpperCase() + words.slice(1);
  const element = parameter.is_range ? el("div", { className: "pair" }, field(`${label} from`, controls[0], { name }), field("to", controls[1], { name: "" })) : field(label, controls[0], { name });
  return { name: parameter.name, element, text: () => controls.map(({ value }) => value).join("..") };
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

// The result so far, page by page.
class Outcome {
  #pages = 0;
  #consumed = { read: 0, write: 0 };

  // `readOn(this)` reads the next page for the arguments `texts`.
  constructor(page, texts, readOn, signal) {
    this.texts = texts;
    this.items = new ItemTable(signal);
    this.facts = el("dl", { className: "facts-row" });
    this.count = el("span", { role: "status" });
    this.more = el("button", { className: "button", type: "button", onclick: () => readOn(this) }, "Load more");
    this.request = el("pre", { tabIndex: 0, role: "region", ariaLabel: "The request" }, JSON.stringify(page.request, null, 2));
    this.element = el("div", {}, this.facts, el("details", {}, el("summary", {}, "The request as DynamoDB receives it"), this.request), this.items.element, el("p", { className: "paging" }, this.count, this.more));
    this.add(page);
  }

  add(page) {
    this.#pages += 1;
    for (const kind of ["read", "write"]) this.#consumed[kind] += page.consumed[kind];
    this.cursor = page.next_cursor;
    this.items.add(page.items);
    replace(this.facts, this.#facts(page).map(([label, text, className = ""]) => el("div", {}, el("dt", {}, label), el("dd", { className }, text))));
    const { length } = this.items;
    this.count.textContent = length ? `${length.toLocaleString("en")} ${length === 1 ? "item" : "items"}${this.#pages > 1 ? `, ${this.#pages} pages` : ""}` : "Nothing was found.";
    this.more.hidden = this.cursor === null;
  }

  #facts(page) {
    const isOver = page.budget && (page.consumed.read > page.budget.read || page.consumed.write > page.budget.write || page.consumed.searched > page.budget.searched);
    return [
      ["Sent", `${page.requests_sent} ${page.call} on ${page.index ?? "the table"}`],
      ["Predicted", `${cost(page.predicted)} with items of ${page.assumed_item_bytes / 1024} KB`],
      ["Budget", page.budget ? cost(page.budget) : "none"],
      ["Consumed", cost(page.consumed), isOver ? "wrong" : "right"],
      ...(this.#pages > 1 ? [["All pages", cost(this.#consumed)]] : []),
    ];
  }
}
