// What happened to the account, and how to leave it.

import { el, replace } from "/assets/dom.js";
import * as api from "./api.js";
import { confirm } from "./dialog.js";
import { instantText } from "./format.js";

export function accountPanel({ attempt, left }) {
  const list = el("ul", { className: "audit" });
  const more = el("button", { className: "button quiet wide", type: "button", hidden: true }, "Older");
  const trail = el("details", {}, el("summary", {}, "What happened in this account"), list, more);
  let cursor = null;

  async function read() {
    const page = await api.audit(cursor);
    list.append(...page.items.map(record));
    cursor = page.next_cursor;
    more.hidden = !cursor;
  }
  trail.addEventListener("toggle", () => {
    if (!trail.open) return;
    cursor = null;
    replace(list);
    attempt(read);
  });
  more.addEventListener("click", () => attempt(read));

  const leave = () =>
    confirm({
      title: "Delete your account?",
      text: ["Your profile, workouts, milestones, awards and the connection to Strava are deleted, and you are logged out everywhere.", "This cannot be undone. A trail of what happened in the account, without any workout, is kept for 90 days. Your activities on Strava stay as they are."],
      action: "Delete everything",
      word: "delete",
      work: async () => {
        await api.deleteAccount();
        left();
      },
    });
  const bin = el("button", { className: "button danger", type: "button", onclick: leave }, "Delete account");
  return el("section", { className: "panel account" }, el("header", {}, el("h2", {}, "Account")), trail, el("footer", { className: "actions" }, bin));
}

function record({ event_type: type, occurred_at: seconds, details }) {
  const at = seconds * 1000;
  const text = Object.entries(details).filter(([name]) => !name.endsWith("_id")).map(([name, value]) => `${name.replaceAll("_", " ")} ${value}`).join(", ");
  return el("li", {}, el("strong", {}, type.toLowerCase().replaceAll("_", " ").replaceAll(".", " ")), el("span", { className: "small" }, text ? `${instantText(at)} · ${text}` : instantText(at)));
}
