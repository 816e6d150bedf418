// What a person asked for and was refused: said, with the way to do it after all.

import { Refused } from "./api.js";
import { signInAgain } from "./signin.js";
import { toast } from "./toast.js";

// `what` says how things stand now: "You are still logged in."
export function refused(what, error, again) {
  const action = error.status === 401 ? ["Sign in", async () => (await signInAgain()) && again()] : ["Try again", again];
  toast(`${what} ${error.message}`, { wrong: true, action });
}

// Runs `work` and gives what it gives; null where the service refuses, which is said.
export async function attempt(what, work) {
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof Refused)) throw error;
    refused(what, error, () => attempt(what, work));
    return null;
  }
}

// The same for a button: pressed again while it is at work, it does nothing.
export function action(what, work) {
  let isAtWork = false;
  return async () => {
    if (isAtWork) return;
    isAtWork = true;
    await attempt(what, work).finally(() => { isAtWork = false; });
  };
}
