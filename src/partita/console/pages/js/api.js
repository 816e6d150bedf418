// The console's API. Declarations and figures are public; data is for operators.

import { ask } from "/assets/api.js";

export const services = () => ask("GET", "/console/api/services");
export const live = () => ask("GET", "/console/api/live");
export const me = () => ask("GET", "/console/api/me");
export const attempt = (wanted) => ask("POST", "/console/api/attempts", { data: wanted });
