// Only the newest of several requests may show its result, in whatever order the responses arrive.

// Returns a function for all requests of one place on the page: `await ask(question, show, fail)`. It passes the result of
// `question()` to `show` and its error to `fail`, both only if there was no newer request since.
export function latest() {
  let newest = 0;
  return async (question, show, fail = raise) => {
    const own = (newest += 1);
    try {
      const answer = await question();
      if (own === newest) await show(answer);
    } catch (error) {
      if (own === newest) await fail(error);
    }
  };
}

function raise(error) {
  throw error;
}

// Work that may be requested again while it is running: it then runs once more, however often it was requested, and not
// before `apart` milliseconds have passed.
export function onceMore(work, { apart = 0 } = {}) {
  let [isAtWork, isAsked] = [false, false];
  return async () => {
    isAsked = true;
    if (isAtWork) return;
    isAtWork = true;
    try {
      while (isAsked) {
        isAsked = false;
        await work();
        await new Promise((passed) => setTimeout(passed, apart));
      }
    } finally {
      isAtWork = false;
    }
  };
}
