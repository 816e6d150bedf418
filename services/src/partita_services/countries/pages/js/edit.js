// The forms of operators, which change, delete, restore and create a country.

import { keysByContent, newKey } from "/assets/api.js";
import { attempt } from "/assets/attempt.js";
import { button, confirm } from "/assets/dialog.js";
import { el, isolated } from "/assets/dom.js";
import { field, Form } from "/assets/form.js";
import * as api from "./api.js";
import { operatorPanel, signIn } from "./operator.js";

const [CONFLICT, GONE] = [412, 410];

export class Editor {
  #form = null;
  #known;

  // `changed(message, undo)` is called after a version was written, `reload()` to read the country again.
  constructor(country, newest, { changed, reload }) {
    Object.assign(this, { changed, reload });
    this.#known = country;
    this.element = newest.isDeleted
      ? operatorPanel("Edit", "Restoring a withdrawn country adds a version.", () => this.#restoring())
      : operatorPanel("Edit", "Saving closes the open version and adds the next one at the same instant.", () => this.#editing());
  }

  get isTouched() {
    return this.#form?.isTouched ?? false;
  }

  #editing() {
    const fields = dataFields(this.#known);
    const keyFor = keysByContent();
    const submit = () => this.#save(fields, keyFor);
    const remove = el("button", { className: "button danger", type: "button", onclick: () => this.#remove(fields.reason) }, "Withdraw");
    this.#form = new Form({ fields: [grid(fields)], foot: actions(button("Save version", "primary"), remove), submit, signIn });
    return this.#form.element;
  }

  async #save(fields, keyFor) {
    const { alpha2Code, etag } = this.#known;
    const [data, reason] = [values(fields), fields.reason.value.trim()];
    try {
      await taking(fields, () => api.save(alpha2Code, data, reason, { etag, key: keyFor({ data, reason, etag }) }));
    } catch (error) {
      if (error.status === CONFLICT) await this.#conflict(error, fields);
      throw error;
    }
    this.#done("The new version is saved.");
  }

  // Another tab or operator was faster: the person decides which content stays.
  async #conflict(error, fields) {
    const current = await api.country(this.#known.alpha2Code).catch((reason) => reason);
    if (current.status && current.status !== GONE) throw current;
    error.isSaid = true;
    const press = (text, onclick) => el("button", { className: "button", type: "button", onclick }, text);
    if (current.status === GONE) {
      this.#form.say(el("p", {}, "This country was withdrawn elsewhere while you were writing."), press("Show what is there now", () => this.#begin()));
      return;
    }
    this.#known = current;
    this.#form.say(el("p", {}, "This country was changed elsewhere while you were writing. Save again to keep your changes, or "), press("Show what is there now", () => this.#begin()));
    for (const [name, control] of Object.entries(fields)) if (name !== "reason") control.title = `Now: ${current[name] ?? "none"}`;
  }

  // Discards the input.
  #begin() {
    this.#form.isTouched = false;
    return this.reload();
  }

  #remove(reason) {
    const { alpha2Code, name, etag } = this.#known;
    const keyFor = keysByContent();
    const why = reason.value.trim();
    confirm({
      title: `Withdraw ${isolated(name)}?`,
      text: "This adds a version that is marked as withdrawn. All other versions stay, and the country can be restored.",
      action: "Withdraw",
      signIn,
      work: async () => {
        try {
          await api.remove(alpha2Code, why, { etag, key: keyFor({ etag }) });
        } catch (error) {
          if (error.status === CONFLICT) this.reload();
          throw error;
        }
        const undo = { key: newKey() };
        this.#done(`${isolated(name)} is withdrawn. All versions are kept.`, () => attempt(`${isolated(name)} was not restored.`, () => api.restore(alpha2Code, why, undo).then(() => this.changed(`${isolated(name)} is restored.`)), { signIn }));
      },
    });
  }

  #restoring() {
    const reason = reasonControl();
    const keyFor = keysByContent();
    const submit = async () => {
      const why = reason.value.trim();
      await api.restore(this.#known.alpha2Code, why, { key: keyFor({ why }) });
      this.#done(`${isolated(this.#known.name)} is restored.`);
    };
    this.#form = new Form({ fields: [el("div", { className: "grid" }, wide(field("Reason", reason)))], foot: actions(button("Restore", "primary")), submit, signIn });
    return this.#form.element;
  }

  #done(message, undo = null) {
    this.#form.isTouched = false;
    this.changed(message, undo);
  }
}

export function creator(alpha2, created) {
  return operatorPanel(`Create ${alpha2}`, "The first version is valid from now on.", () => {
    const fields = dataFields({ name: "", alpha3Code: "", numericCode: "" });
    const keyFor = keysByContent();
    const submit = async () => {
      const [data, reason] = [values(fields), fields.reason.value.trim()];
      await taking(fields, () => api.create(alpha2, data, reason, { key: keyFor({ data, reason }) }));
      created(`${isolated(data.name)} is created.`);
    };
    return new Form({ fields: [grid(fields)], foot: actions(button("Create", "primary")), submit, signIn }).element;
  });
}

// Shows the error that another country has a code at the field of the code.
async function taking(fields, work) {
  try {
    return await work();
  } catch (error) {
    const [, name, code] = (error.problem?.code === "unique_taken" && /(alpha3|numeric) '(\w+)'/.exec(error.problem.detail)) || [];
    const control = { alpha3: fields.alpha3Code, numeric: fields.numericCode }[name];
    if (control) {
      error.isSaid = true;
      control.closest(".field").say(`Another country has ${code}.`);
      control.focus();
    }
    throw error;
  }
}

const actions = (...buttons) => el("div", { className: "actions" }, ...buttons);
const wide = (element) => {
  element.classList.add("all");
  return element;
};

function dataFields(country) {
  return {
    name: el("input", { name: "name", value: country.name, required: true, maxLength: 200, autocomplete: "off", dir: "auto" }),
    alpha3Code: el("input", { name: "alpha3Code", value: country.alpha3Code, required: true, pattern: "[A-Za-z]{3}", title: "three letters", className: "mono", maxLength: 3, autocomplete: "off" }),
    numericCode: el("input", { name: "numericCode", value: country.numericCode ?? "", required: true, pattern: "[0-9]{3}", title: "three digits", className: "mono", maxLength: 3, inputMode: "numeric", autocomplete: "off" }),
    reason: reasonControl(),
  };
}

const reasonControl = () => el("input", { name: "reason", maxLength: 200, placeholder: "why this version is written", autocomplete: "off", dir: "auto" });

function grid({ name, alpha3Code, numericCode, reason }) {
  return el("div", { className: "grid" }, field("Name", name), field("Alpha-3", alpha3Code), field("Numeric", numericCode), wide(field("Reason", reason)));
}

const values = ({ name, alpha3Code, numericCode }) => ({ name: name.value.trim(), alpha3Code: alpha3Code.value.trim().toUpperCase(), numericCode: numericCode.value.trim() });
