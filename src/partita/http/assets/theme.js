// The theme: light, dark, or that of the system. Stored for all pages of this server.

const KEPT = "partita-theme";
const THEMES = { system: "System", light: "Light", dark: "Dark" };
const system = matchMedia("(prefers-color-scheme: dark)");

export const theme = {
  all: Object.entries(THEMES),
  get: () => (localStorage.getItem(KEPT) in THEMES ? localStorage.getItem(KEPT) : "system"),
  set(name) {
    localStorage.setItem(KEPT, name);
    apply();
  },
};

// The colours are written as light-dark(…, …); base.css sets the colour scheme by this attribute.
function apply() {
  const chosen = theme.get();
  document.documentElement.dataset.theme = chosen === "system" ? (system.matches ? "dark" : "light") : chosen;
}

apply();
system.addEventListener("change", apply);
addEventListener("storage", (event) => event.key === KEPT && apply());
