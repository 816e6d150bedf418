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
