// Typed text that was not sent: the browser asks before the page is left, reloaded or closed.

let isGivenUp = false;

// Called when somebody types into a form. `form.isUnsaved()` returns whether its content would be lost.
export const guard = () => addEventListener("beforeunload", ask);

function ask(event) {
  const isTyped = [...document.forms].some((form) => form.checkVisibility() && form.isUnsaved?.());
  if (isTyped && !isGivenUp) event.preventDefault();
}

// Loads the page again, or another one, without asking: the person has already decided, or is somebody else.
export function startOver(address = null) {
  isGivenUp = true;
  if (address) location.assign(address);
  else location.reload();
}
