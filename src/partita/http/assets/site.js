// What this server has: its services, and how people sign in. Asked for once for each page.

const NOTHING = { services: [], sign_in: { demo: false, issuer: null } };

export const site = fetch("/site.json")
  .then((response) => (response.ok ? response.json() : NOTHING))
  .catch(() => NOTHING);
