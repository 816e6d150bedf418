// Writing a milestone: a new one, or a change of one that is there.

import { el } from "/assets/dom.js";
import * as api from "./api.js";
import { button, field, openDialog } from "./dialog.js";
import { METRICS, SPORT_TYPES, plusDays, sport, today } from "./format.js";
import { picture } from "./picture.js";

const START = { distance: 100, moving_time: 20, elevation: 2000, count: 12 };

export function newMilestone(models, created) {
  const model = choices("model", "Which model will you build?", models.map((one) => [one.model_id, thumbnail(one)]), models[0].model_id, "models");
  const metric = choices("metric", "What counts?", Object.entries(METRICS).map(([name, { name: text }]) => [name, text]), "distance");
  const target = targetField("distance", START.distance);
  const title = el("input", { required: true, maxLength: 80, autocomplete: "off", placeholder: "A hundred before the holidays" });
  const from = day("2000-01-01", plusDays(today(), -today().slice(8) + 1));
  const to = day("2000-01-01", plusDays(today(), 30));
  const sports = sportField([]);
  metric.addEventListener("change", (event) => target.take(event.target.value, START[event.target.value]));

  async function submit() {
    const milestone = await api.create({
      title: title.value.trim(),
      model_id: chosen(model),
      metric: chosen(metric),
      target: target.amount(),
      sport_types: sports.chosen(),
      starts_on: from.value,
      ends_on: to.value,
    });
    created(milestone);
  }
  openDialog({
    title: "New milestone",
    body: [field("Title", title), model, metric, el("div", { className: "row" }, target, field("From", from), field("To", to)), sports],
    buttons: [button("Commit to it", "primary")],
    submit,
  });
  title.focus();
}

export function editMilestone(milestone, saved) {
  let known = milestone;
  const title = el("input", { required: true, maxLength: 80, value: milestone.title, autocomplete: "off" });
  const target = targetField(milestone.metric, milestone.target / METRICS[milestone.metric].per);
  const to = day(milestone.starts_on, milestone.ends_on);
  const sports = sportField(milestone.sport_types);

  async function submit() {
    const fields = { version: known.version, title: title.value.trim(), target: target.amount(), ends_on: to.value, sport_types: sports.chosen() };
    try {
      saved(await api.change(known.milestone_id, fields));
    } catch (error) {
      if (error.problem.code === "version_conflict") await explain(error);
      throw error;
    }
  }

  // A part that was earned meanwhile, or another window, made a newer version: the person decides which words stay.
  async function explain(error) {
    const before = known.version;
    known = await api.milestoneNow(known.milestone_id);
    error.isSaid = true;
    dialog.say(
      el("p", {}, `This milestone changed while you were writing: you have version ${before}, and ${known.version} is there now. A part was earned, or it was edited elsewhere.`),
      el("p", {}, "Save again to keep your words, or "),
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
    body: [field("Title", title), el("div", { className: "row" }, target, field("To", to)), sports],
    buttons: [button("Save", "primary")],
    submit,
  });
  title.focus();
}

const day = (min, value) => el("input", { type: "date", required: true, value, min, max: "9998-12-31" });
const chosen = (group) => group.querySelector(":checked").value;

function thumbnail(model) {
  const shown = picture(model);
  shown.show(model.parts.length);
  return el("span", { className: "thumbnail" }, shown, el("strong", {}, model.name), el("small", {}, `${model.parts.length} parts`));
}

function choices(name, legend, options, first, kind = "segments") {
  const option = ([value, content]) =>
    el("label", {}, el("input", { type: "radio", name, value, checked: value === first }), typeof content === "string" ? el("span", {}, content) : content);
  return el("fieldset", { className: kind }, el("legend", {}, legend), el("div", {}, ...options.map(option)));
}

// A number in the unit that people think in.
function targetField(metric, value) {
  let per = METRICS[metric].per;
  const unit = el("span", { className: "unit" });
  const input = el("input", { type: "number", required: true, min: 1, max: 100_000, step: "any", inputMode: "decimal" });
  const label = field("Target", el("span", { className: "measured" }, input, unit));
  label.amount = () => Math.round(input.valueAsNumber * per);
  label.take = (name, amount) => {
    per = METRICS[name].per;
    unit.textContent = METRICS[name].unit;
    input.value = String(amount);
  };
  label.take(metric, value);
  return label;
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
