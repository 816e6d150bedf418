// One answer at a time: of several questions only the newest may show its answer, in whatever order answers come.

// Gives a function for all questions about one place of the page: `await ask(question, show, fail)`. What `question()`
// answers goes to `show`, its error to `fail`, both only if nothing was asked since.
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

// Work that may be asked for again while it is under way: it is done once more after that, however often it was asked for,
// and `apart` milliseconds later at the earliest.
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
