// The API of CommitCollect, relative to the page. The browser sends the session cookie with every request.

import { ask, askOnce, query, send } from "/assets/api.js";

const [FIRST, PAGE] = [20, 100]; // the first page is short, because it is read after every change

const milestone = (id) => `api/milestones/${encodeURIComponent(id)}`;
const model = (id) => `api/models/${encodeURIComponent(id)}`;
const page = (path, fields) => ask("GET", `api/${path}?${query(fields)}`);
const feed = (path) => (cursor = null) => page(path, { limit: cursor === null ? FIRST : PAGE, cursor });

export const STREAM = "api/stream";
export const me = () => ask("GET", "api/me");
export const milestones = (cursor = null) => page("milestones", { limit: PAGE, cursor });
export const milestoneNow = (id) => ask("GET", milestone(id));
export const workouts = feed("workouts");
export const audit = feed("audit");
export const awards = async (id) => (await page("awards", { limit: PAGE, milestone_id: id })).items;
export const create = (data, key) => askOnce("POST", "api/milestones", { data, key });
export const change = (id, data) => ask("PATCH", milestone(id), { data });
export const sync = () => ask("POST", "api/sync");
export const disconnect = () => ask("DELETE", "api/me/connection");
export const signOutEverywhere = () => ask("POST", "auth/logout-everywhere");
export const signOut = () => ask("POST", "auth/logout");
export const deleteAccount = () => ask("DELETE", "api/me");

export const models = async () => (await ask("GET", "api/models")).items;
export const picture = async (id) => (await send("GET", `${model(id)}/picture`)).text();
export const load = (id, data) => ask("PUT", model(id), { data });
export const retire = (id) => ask("POST", `${model(id)}/retire`);
