// The versions of a country that were read so far, newest first.

import { Pages } from "/assets/pages.js";
import * as api from "./api.js";
import { instantOf } from "./format.js";

export class History {
  #pages;

  constructor(code) {
    this.#pages = new Pages((cursor) => api.versions(code, cursor));
    this.versions = [];
  }

  get hasMore() {
    return this.#pages.hasMore;
  }

  get newest() {
    return this.versions[0];
  }

  get oldest() {
    return this.versions.at(-1);
  }

  async more() {
    const read = await this.#pages.next();
    this.versions = [...this.versions, ...read.map(timed)];
  }

  // The newest version that had begun at an instant; undefined if it was not read.
  at = (instant) => this.versions.find(({ start }) => start <= instant);

  // The previous version, which another one replaced.
  before(version) {
    return this.versions[this.versions.indexOf(version) + 1];
  }
}

const timed = (version) => ({ ...version, start: instantOf(version.createDate), end: version.expiryDate ? instantOf(version.expiryDate) : Infinity });

// A code that no country has any more still leads to the last country that had it.
export async function readCountry(code) {
  const history = new History(code);
  await history.more();
  const { newest } = history;
  return { country: newest.isDeleted ? newest : await api.country(newest.alpha2Code), history };
}
