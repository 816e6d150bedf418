// The console's API. What is declared and counted is for everybody; data is for operators.

import { ask, Refused, token } from "/assets/api.js";

export { Refused, token };

export const services = () => ask("GET", "/console/api/services");
export const live = () => ask("GET", "/console/api/live");
export const attempt = (wanted) => ask("POST", "/console/api/attempts", { data: wanted });
