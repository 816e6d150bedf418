// The collectible models, for operators of the service: load a model, change its texts and picture, retire it.

import { claims, token } from "/assets/api.js";
import { attempt } from "/assets/attempt.js";
import { connection } from "/assets/connection.js";
import { button, openDialog } from "/assets/dialog.js";
import { el, isolated, replace } from "/assets/dom.js";
import { field } from "/assets/form.js";
import { latest } from "/assets/latest.js";
import { kept, KeyedList } from "/assets/list.js";
import { person } from "/assets/person.js";
import { signInBy, signInOver, signInPanel } from "/assets/signin.js";
import { empty, failed, skeleton } from "/assets/states.js";
import { tabs } from "/assets/tabs.js";
import { toast } from "/assets/toast.js";
import * as api from "./api.js";
import { localDay } from "./format.js";
import { forget, picture } from "./picture.js";

const [content, session] = ["content", "session"].map((id) => document.getElementById(id));
const commands = ["partita token --user boss --role operator"];
const ask = latest();
const tell = tabs("commitcollect models", () => list && show());
let list = null;

async function check() {
  if (claims().role === "operator") return;
  token.forget();
  throw new Error("This is not the token of an operator.");
}
signInBy(() => signInOver({ roles: ["operator"], check, commands }));

function signIn(problem = "") {
  list = null;
  replace(session);
  replace(content, signInPanel({ title: "The models that can be collected", roles: ["operator"], commands, check, signedIn: show, problem }));
}

function leave() {
  token.forget();
  signIn();
}

// Everybody may read the models; the token is checked when something is changed.
async function show() {
  replace(session, person(claims().sub ?? "", leave));
  if (!list) replace(content, el("h1", { className: "hidden loading" }, "Models"), skeleton(3));
  await ask(api.models, draw, (error) => {
    if (error.status === undefined) throw error;
    if (list) toast(`This may be out of date. ${error.message}`, { wrong: true, action: ["Try again", show] });
    else replace(content, failed(error, show, "The models cannot be shown"));
  });
}

// Updates this tab and the others.
function changed() {
  tell("changed");
  return show();
}

function draw(models) {
  if (!list) frame();
  list.show(kept(list.items, models, ({ model_id: id }) => id));
  list.none.hidden = models.length > 0;
}

function frame() {
  const cards = el("div", { className: "shown" });
  const none = empty("There are no models yet.", el("p", {}, "Create one here, or load the bundled models: ", el("code", {}, "partita commitcollect models load")));
  list = new KeyedList(cards, { key: ({ model_id: id }) => id, draw: card, isWhole: true });
  list.none = none;
  const add = el("button", { className: "button primary", type: "button", onclick: () => edit() }, "New model");
  replace(content, el("section", { className: "catalogue" }, el("header", {}, el("h1", {}, "Models"), add), none, cards));
}

function card(model) {
  const drawing = picture(model);
  drawing.show(model.parts.length);
  const chip = model.retired_at ? el("span", { className: "chip" }, `Retired ${localDay(model.retired_at)}`) : null;
  const actions = [
    el("button", { className: "button", type: "button", onclick: () => edit(model) }, model.retired_at ? "Bring back" : "Edit"),
    model.retired_at ? null : el("button", { className: "button quiet", type: "button", onclick: () => retire(model) }, "Retire"),
  ];
  const about = el("div", {}, el("header", {}, el("h2", { dir: "auto" }, model.name), chip), el("code", {}, model.model_id), el("p", { className: "small", dir: "auto" }, model.story), el("p", { className: "small" }, `${model.parts.length} parts: ${model.parts.map(({ name }) => name).join(", ")}`), el("div", { className: "actions" }, ...actions));
  const made = el("article", { className: "model", ariaLabel: model.name }, drawing, about);
  made.dataset.retired = String(Boolean(model.retired_at));
  return made;
}

const contentOf = async (model) => ({ name: model.name, story: model.story, parts: model.parts.map(({ name }) => name), picture: await api.picture(model.model_id) });
const LOADED = { added: "is created", changed: "is saved", "brought back": "is available again", unchanged: "is unchanged" };

function edit(model) {
  const id = el("input", { name: "model_id", required: true, maxLength: 40, pattern: "[a-z0-9]+(-[a-z0-9]+)*", title: "lowercase letters, digits and hyphens", value: model?.model_id ?? "", readOnly: Boolean(model), autocomplete: "off" });
  const name = el("input", { name: "name", required: true, maxLength: 60, value: model?.name ?? "", autocomplete: "off", dir: "auto" });
  const story = el("input", { name: "story", maxLength: 300, value: model?.story ?? "", autocomplete: "off", dir: "auto" });
  const parts = el("textarea", { name: "parts", rows: 5, required: true, value: model?.parts.map((part) => part.name).join("\n") ?? "", dir: "auto" });
  const file = el("input", { name: "picture", type: "file", accept: ".svg,image/svg+xml", required: !model });

  async function submit() {
    const [chosen] = file.files;
    const names = parts.value.split("\n").map((line) => line.trim()).filter(Boolean);
    const data = { name: name.value, story: story.value, parts: names, picture: await (chosen ? chosen.text() : api.picture(model.model_id)) };
    const { outcome } = await api.load(id.value, data);
    toast(`${isolated(name.value)} ${LOADED[outcome] ?? "is saved"}.`);
    if (chosen) {
      forget(id.value);
      list?.show(list.items.filter((each) => each.model_id !== id.value)); // its card is drawn again
    }
    await changed();
  }

  openDialog({
    title: model ? `Edit ${isolated(model.name)}` : "New model",
    className: "editor",
    body: [
      field("Identifier", id, { hint: "Lowercase letters, digits and hyphens. It cannot be changed later." }),
      field("Name", name),
      field("Story", story),
      field("Parts, one per line", parts, { hint: model ? "Their number cannot change, because milestones depend on it." : "In the order in which they are earned." }),
      field("Picture", file, { hint: "SVG with a group part-1, part-2 and so on for each part." }),
    ],
    buttons: [el("span", { className: "space" }), button(model ? "Save" : "Create", "primary")],
    submit,
  });
  (model ? name : id).focus();
}

// Takes effect without a question, because it can be undone. Existing milestones continue.
function retire(model) {
  const back = async () => {
    await api.load(model.model_id, await contentOf(model));
    toast(`${isolated(model.name)} is available again.`);
    await changed();
  };
  return attempt(`${isolated(model.name)} was not retired.`, async () => {
    await api.retire(model.model_id);
    toast(`${isolated(model.name)} is retired: no new milestone can use it, and existing milestones continue.`, { action: ["Undo", () => attempt(`${isolated(model.name)} stays retired.`, back)] });
    await changed();
  });
}

connection.onRegained(() => token.get() && show());
if (token.get()) await show();
else signIn();
