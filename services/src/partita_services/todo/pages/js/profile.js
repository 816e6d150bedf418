// The user's profile: name and email, a daily reminder, the download of their data, and the deletion of the account.

import { button, confirm, openDialog } from "/assets/dialog.js";
import { el } from "/assets/dom.js";
import { field } from "/assets/form.js";
import { toast } from "/assets/toast.js";
import { startOver } from "/assets/unsaved.js";
import * as api from "./api.js";

const KEPT = "partita-todo-cost";

// Whether the foot of the board shows what each request consumed.
export const showsCost = {
  get: () => localStorage.getItem(KEPT) === "yes",
  set: (isOn) => localStorage.setItem(KEPT, isOn ? "yes" : "no"),
};

// `saved(user)` is called with the profile that was written; `shown` is the board.
export function profile(user, { saved, shown }) {
  const name = el("input", { name: "name", required: true, maxLength: 100, value: user.isNew ? "" : user.name, autocomplete: "name", dir: "auto" });
  const email = el("input", { name: "email", type: "email", required: true, value: user.email ?? "", autocomplete: "email" });
  const reminds = el("input", { type: "checkbox", className: "box", checked: Boolean(user.remind_at) });
  const hour = el("input", { name: "remind_at", type: "time", value: user.remind_at?.slice(0, 5) ?? "08:00", step: 60 });
  const zone = el("input", { name: "time_zone", value: user.time_zone ?? Intl.DateTimeFormat().resolvedOptions().timeZone, autocomplete: "off" });
  const when = el("div", { className: "pair", hidden: !reminds.checked }, field("At", hour), field("Time zone", zone));
  const cost = el("input", { type: "checkbox", className: "box", checked: showsCost.get() });
  reminds.addEventListener("change", () => { when.hidden = !reminds.checked; });
  cost.addEventListener("change", () => {
    showsCost.set(cost.checked);
    shown.cost.hidden = !cost.checked;
  });

  async function submit() {
    const reminder = reminds.checked ? { remind_at: hour.value, time_zone: zone.value.trim() } : {};
    saved(await api.writeMe({ name: name.value, email: email.value, ...reminder }));
    toast("Saved your profile.");
  }

  const own = el("div", { className: "own" }, el("button", { className: "button", type: "button", onclick: () => dialog.form.send(download) }, "Download my data"), el("button", { className: "button danger", type: "button", onclick: erase }, "Delete my account"));
  const dialog = openDialog({
    title: "Your profile",
    className: "profile",
    body: [field("Name", name), field("Email", email), tick(reminds, "Remind me every day of what is due"), when, tick(cost, "Show what each request costs, at the foot of the board"), own],
    buttons: [el("span", { className: "space" }), button("Save", "primary")],
    submit,
  });
  name.focus();
}

const tick = (box, text) => el("label", { className: "tick" }, box, el("span", {}, text));

async function download() {
  const url = URL.createObjectURL(await api.myData());
  el("a", { href: url, download: "to-do.json" }).click();
  setTimeout(() => URL.revokeObjectURL(url));
}

// A long list is deleted in several calls.
function erase() {
  confirm({
    title: "Delete your account?",
    text: ["All your tasks and your profile are deleted, on every device. This cannot be undone.", "Download your data first if you want to keep it."],
    action: "Delete my account",
    word: "delete",
    work: async () => {
      while ((await api.eraseMe()).more);
      api.token.forget();
      startOver(location.pathname);
    },
  });
}
