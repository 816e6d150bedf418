// The models that can be collected, for who operates the service: load one, change its words and picture, retire it.

import { ask, claims, token } from "/assets/api.js";
import { el, replace } from "/assets/dom.js";
import { signInPanel } from "/assets/signin.js";
import { button, confirm, field, openDialog } from "./dialog.js";
import { localDay } from "./format.js";
import { picture } from "./picture.js";

const at = (id) => document.getElementById(id);
const [content, session, said] = ["content", "session", "said"].map(at);
const SAID = 6000;
let hush;

const modelAt = (id) => `api/models/${encodeURIComponent(id)}`;

function say(text, kind = "") {
  clearTimeout(hush);
  said.className = `said ${kind}`;
  replace(said, el("p", {}, text));
  hush = setTimeout(() => replace(said), SAID);
}

function signIn(problem = "") {
  replace(session);
  replace(
    content,
    signInPanel({
      title: "The models that can be collected",
      roles: ["operator"],
      commands: ["partita token --user boss --role operator"],
      check: async () => {
        if (claims().role !== "operator") throw new Error("This token is not an operator's.");
      },
      signedIn: show,
      problem,
    }),
  );
}

async function show() {
  replace(session, el("span", { className: "name" }, claims().sub), el("button", { className: "button", type: "button", onclick: () => { token.forget(); signIn(); } }, "Sign out"));
  const { items } = await ask("GET", "api/models");
  const none = el("p", { className: "notice" }, "There are no models yet. `partita commitcollect models load` loads those that come with the service.");
  const add = el("button", { className: "button primary", type: "button", onclick: () => edit() }, "New model");
  replace(content, el("section", { className: "catalogue" }, el("header", {}, el("h1", {}, "Models"), add), items.length ? el("div", { className: "shown" }, ...items.map(card)) : none));
}

function card(model) {
  const drawing = picture(model);
  drawing.show(model.parts.length);
  const chip = model.retired_at ? el("span", { className: "chip" }, `Retired ${localDay(model.retired_at)}`) : null;
  const actions = [
    el("button", { className: "button", type: "button", onclick: () => edit(model) }, model.retired_at ? "Bring back" : "Edit"),
    model.retired_at ? null : el("button", { className: "button quiet", type: "button", onclick: () => retire(model) }, "Retire"),
  ].filter(Boolean);
  const about = el("div", {}, el("header", {}, el("h2", {}, model.name), chip), el("code", {}, model.model_id), el("p", { className: "small" }, model.story), el("p", { className: "small" }, `${model.parts.length} parts: ${model.parts.map(({ name }) => name).join(", ")}`), el("div", { className: "actions" }, ...actions));
  const made = el("article", { className: "model", ariaLabel: model.name }, drawing, about);
  made.dataset.retired = String(Boolean(model.retired_at));
  return made;
}

function edit(model) {
  const id = el("input", { required: true, maxLength: 40, pattern: "[a-z0-9]+(-[a-z0-9]+)*", title: "small letters, digits and hyphens", value: model?.model_id ?? "", readOnly: Boolean(model), autocomplete: "off" });
  const name = el("input", { required: true, maxLength: 60, value: model?.name ?? "", autocomplete: "off" });
  const story = el("input", { maxLength: 300, value: model?.story ?? "", autocomplete: "off" });
  const parts = el("textarea", { required: true, value: model?.parts.map((part) => part.name).join("\n") ?? "" });
  const file = el("input", { type: "file", accept: ".svg,image/svg+xml", required: !model });

  async function drawing() {
    const [chosen] = file.files;
    return chosen ? chosen.text() : (await fetch(`${modelAt(model.model_id)}/picture`)).text();
  }

  async function submit() {
    const names = parts.value.split("\n").map((line) => line.trim()).filter(Boolean);
    const data = { name: name.value, story: story.value, parts: names, picture: await drawing() };
    const { outcome } = await ask("PUT", modelAt(id.value), { data });
    say(`${name.value}: ${outcome}.`);
    // A picture that was shown before is asked for again.
    if (file.files.length) location.reload();
    else await show();
  }

  openDialog({
    title: model ? `Edit ${model.name}` : "New model",
    body: [
      field("Identifier", id, "Small letters, digits and hyphens. It cannot be changed later."),
      field("Name", name),
      field("Story", story),
      field("Parts, one a line", parts, model ? "Their number stays as it is: milestones count by it." : "In the order in which they are earned."),
      field("Picture", file, "SVG with a group part-1, part-2 and so on for each part."),
    ],
    buttons: [button(model ? "Save" : "Load it", "primary")],
    submit,
  });
  (model ? name : id).focus();
}

function retire(model) {
  confirm({
    title: `Retire ${model.name}?`,
    text: ["No milestone can begin with it any more. Those that have begun go on, and earned parts stay."],
    action: "Retire it",
    work: async () => {
      await ask("POST", `${modelAt(model.model_id)}/retire`);
      say(`${model.name} is retired.`);
      await show();
    },
  });
}

async function start() {
  if (!token.get()) {
    signIn();
    return;
  }
  try {
    await show();
  } catch (error) {
    token.forget();
    signIn(error.message);
  }
}

await start();
