// Back from the identity provider: exchanges the code for a token, if this tab started the sign-in.

import { el, replace } from "/assets/dom.js";
import { finish } from "/assets/issuer.js";

const main = document.getElementById("main");

try {
  const page = await finish(new URLSearchParams(location.search));
  if (page !== null) location.replace(page);
  else {
    replace(main, el("section", { className: "signin" }, el("h1", {}, "You are signed in"), el("p", {}, "Close this window, and go on where you were.")));
    window.close();
  }
} catch (error) {
  replace(
    main,
    el("section", { className: "signin" }, el("h1", {}, "You are not signed in"), el("p", { className: "wrong", role: "alert" }, error.message), el("a", { className: "button", href: error.page ?? "/" }, "Back")),
  );
}
