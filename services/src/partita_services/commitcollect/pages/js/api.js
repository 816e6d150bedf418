// The API of CommitCollect, relative to the page. The browser's session comes with every request by itself.

import { ask, askOnce, query, Refused } from "/assets/api.js";

export { Refused };

const milestone = (id) => `api/milestones/${encodeURIComponent(id)}`;
const page = (path, fields) => ask("GET", `api/${path}?${query(fields)}`);

export const me = () => ask("GET", "api/me");
export const models = async () => (await ask("GET", "api/models")).items;
export const milestones = async () => (await page("milestones", { limit: 100 })).items;
export const milestoneNow = (id) => ask("GET", milestone(id));
export const workouts = (cursor) => page("workouts", { limit: 10, cursor });
export const awards = async (id) => (await page("awards", { limit: 100, milestone_id: id })).items;
export const audit = (cursor) => page("audit", { limit: 20, cursor });
export const create = (data) => askOnce("POST", "api/milestones", { data });
export const change = (id, data) => ask("PATCH", milestone(id), { data });
export const sync = () => ask("POST", "api/sync");
export const disconnect = () => ask("DELETE", "api/me/connection");
export const logOutEverywhere = () => ask("POST", "auth/logout-everywhere");
export const logOut = () => ask("POST", "auth/logout");
export const deleteAccount = () => ask("DELETE", "api/me");
