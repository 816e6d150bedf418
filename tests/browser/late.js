// Simulates an unsteady network for a page: a request may leave late, and responses may arrive in another order.
(() => {
  let state = SEED + location.pathname.length;
  const chance = () => { // mulberry32
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
  const [fetched, later] = [window.fetch, window.setTimeout];
  const late = () => new Promise((passed) => later(passed, chance() < 0.4 ? 200 + 600 * chance() : 30 * chance()));
  window.fetch = async (...request) => {
    await late();
    const response = await fetched(...request);
    await late();
    return response;
  };
})();
