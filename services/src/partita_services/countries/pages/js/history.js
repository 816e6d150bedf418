// The versions of a country, newest first, as far as they were read.

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

  // The newest that had begun; undefined where it was not read.
  at = (instant) => this.versions.find(({ start }) => start <= instant);

  // The one that was open before another: what that one has changed.
  before(version) {
    return this.versions[this.versions.indexOf(version) + 1];
  }
}

const timed = (version) => ({ ...version, start: instantOf(version.createDate), end: version.expiryDate ? instantOf(version.expiryDate) : Infinity });

// A code that nobody has any more still leads to the country that had it last.
export async function readCountry(code) {
  const history = new History(code);
  await history.more();
  const { newest } = history;
  return { country: newest.isDeleted ? newest : await api.country(newest.alpha2Code), history };
}
