// The services of this server, and its ways to sign in. Fetched once for each page.

const NOTHING = { services: [], sign_in: { demo: false, issuer: null } };

export const site = fetch("/site.json")
  .then((response) => (response.ok ? response.json() : NOTHING))
  .catch(() => NOTHING);
