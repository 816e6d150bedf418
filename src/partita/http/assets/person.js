// Who is signed in, in the header, and the button to leave: an icon on a phone.

import { el, line } from "./dom.js";

export function leaveButton(leave) {
  return el("button", { className: "button leave", type: "button", onclick: leave }, line("M10 4H5v16h5M14 8l4 4-4 4M18 12H9"), el("span", {}, "Sign out"));
}

export function person(name, leave) {
  return [el("span", { className: "person", dir: "auto", title: name }, name), leaveButton(leave)];
}
