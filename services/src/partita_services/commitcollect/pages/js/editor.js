// The dialogs to create and edit a milestone.

import { newKey } from "/assets/api.js";
import { button, openDialog } from "/assets/dialog.js";
import { el } from "/assets/dom.js";
import { field, segments } from "/assets/form.js";
import { toast } from "/assets/toast.js";
import * as api from "./api.js";
import { METRICS, SPORT_TYPES, plusDays, sport, today } from "./format.js";
import { picture } from "./picture.js";

const START = { distance: 100, moving_time: 20, elevation: 2000, count: 12 };
const CHANGEABLE = ["title", "target", "ends_on", "sport_types"];
const FIXED = ["model_id", "metric", "starts_on"];
const MISMATCH = "idempotency_mismatch";

// The fields of a milestone that a person can change.
export const fieldsOf = (milestone) => Object.fromEntries(CHANGEABLE.map((name) => [name, milestone[name]]));

export function newMilestone(models, created) {
  const key = newKey(); // one key for the dialog, so that it creates one milestone, however often it is sent
  let sent = null;
  const model = segments("Which model will you build?", "model", models.map((one) => [one.model_id, thumbnail(one)]), models[0].model_id, "models");
  const metric = segments("What counts?", "metric", Object.entries(METRICS).map(([name, { name: text }]) => [name, text]), "distance");
  const target = targetField("distance", START.distance);
  const title = titleInput("");
  const from = day("starts_on", "2000-01-01", plusDays(today(), -today().slice(8) + 1));
  const to = day("ends_on", "2000-01-01", plusDays(today(), 30));
  const sports = sportField([]);
  metric.addEventListener("change", (event) => target.take(event.target.value, START[event.target.value]));

  const fields = () => ({
    title: title.value.trim(),
    model_id: chosen(model),
    metric: chosen(metric),
    target: target.amount(),
    sport_types: sports.chosen(),
    starts_on: from.value,
    ends_on: to.value,
  });
  // The first request may have been saved without a response. If so, that milestone is changed to the current input.
  async function submit() {
    const now = fields();
    sent ??= now;
    try {
      created(await api.create(now, key));
    } catch (error) {
      if (error.problem?.code !== MISMATCH) throw error;
      const first = await api.milestoneNow((await api.create(sent, key)).milestone_id);
      created(await api.change(first.milestone_id, { ...fieldsOf(now), version: first.version }));
      if (FIXED.some((name) => now[name] !== sent[name])) toast("Your first attempt was saved: the model, what counts and the first day are as you chose them then.", { wrong: true });
    }
  }
  openDialog({
    title: "New milestone",
    className: "editor",
    body: [field("Title", title), named("model_id", model), metric, el("div", { className: "row" }, target, field("From", from), field("To", to)), sports],
    buttons: [el("span", { className: "space" }), button("Commit to it", "primary")],
    submit,
  });
  title.focus();
}

export function editMilestone(milestone, saved) {
  let known = milestone;
  const title = titleInput(milestone.title);
  const target = targetField(milestone.metric, milestone.target / METRICS[milestone.metric].per);
  const to = day("ends_on", milestone.starts_on, milestone.ends_on);
  const sports = sportField(milestone.sport_types);

  async function submit() {
    const fields = { version: known.version, title: title.value.trim(), target: target.amount(), ends_on: to.value, sport_types: sports.chosen() };
    try {
      saved(await api.change(known.milestone_id, fields));
    } catch (error) {
      if (error.problem?.code === "version_conflict") await explain(error);
      throw error;
    }
  }

  // An earned part or another window has made a newer version: the person decides which content stays.
  async function explain(error) {
    known = await api.milestoneNow(known.milestone_id);
    error.isSaid = true;
    dialog.say(
      el("p", {}, "This milestone changed while you were writing: a part was earned, or it was edited elsewhere. Save again to keep your changes, or "),
      el("button", { className: "button", type: "button", onclick: take }, "Show what is there now"),
    );
  }

  function take() {
    title.value = known.title;
    target.take(known.metric, known.target / METRICS[known.metric].per);
    to.value = known.ends_on;
    sports.take(known.sport_types);
    dialog.say();
  }

  const dialog = openDialog({
    title: "Edit milestone",
    className: "editor",
    body: [field("Title", title), el("div", { className: "row" }, target, field("To", to)), sports],
    buttons: [el("span", { className: "space" }), button("Save", "primary")],
    submit,
  });
  title.focus();
}

const titleInput = (value) => el("input", { name: "title", required: true, maxLength: 80, value, autocomplete: "off", placeholder: "A hundred before the holidays", dir: "auto" });
const day = (name, min, value) => el("input", { name, type: "date", required: true, value, min, max: "9998-12-31" });
const chosen = (group) => group.querySelector(":checked").value;

// Adds a place for errors to a group of choices.
function named(name, group) {
  const wrong = el("p", { className: "wrong" });
  group.append(wrong);
  group.dataset.field = name;
  group.say = (text) => { wrong.textContent = text; };
  group.addEventListener("change", () => group.say(""));
  return group;
}

function thumbnail(model) {
  const shown = picture(model);
  shown.show(model.parts.length);
  return el("span", { className: "thumbnail" }, shown, el("strong", {}, model.name), el("small", {}, `${model.parts.length} parts`));
}

// The field for the target, in the everyday unit that its label names.
function targetField(metric, value) {
  let per = METRICS[metric].per;
  const input = el("input", { name: "target", type: "number", required: true, min: 1, max: 100_000, step: "any", inputMode: "decimal" });
  const element = field("Target", input);
  element.amount = () => Math.round(input.valueAsNumber * per);
  element.take = (name, amount) => {
    per = METRICS[name].per;
    element.firstChild.textContent = `Target in ${METRICS[name].unit}`;
    input.value = String(amount);
  };
  element.take(metric, value);
  return element;
}

function sportField(before) {
  const types = [...new Set([...SPORT_TYPES, ...before])];
  const box = (type) => el("label", {}, el("input", { type: "checkbox", value: type, checked: before.includes(type) }), el("span", {}, sport(type)));
  const group = el("fieldset", { className: "segments sports" }, el("legend", {}, "Sports (none chosen: all of them)"), el("div", {}, ...types.map(box)));
  group.chosen = () => [...group.querySelectorAll(":checked")].map((input) => input.value);
  group.take = (chosenNow) => {
    for (const input of group.querySelectorAll("input")) input.checked = chosenNow.includes(input.value);
  };
  return group;
}
