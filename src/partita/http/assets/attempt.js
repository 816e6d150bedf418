// Work that may be refused: why is said, with the way to do it after all.

import { Refused } from "./api.js";
import { signInAgain } from "./signin.js";
import { toast } from "./toast.js";

// Says why something was not done. `again` does it after all, once the person is known where that was missing.
export function refused(what, error, again, { signIn = signInAgain } = {}) {
  const action = error.status === 401 ? ["Sign in", async () => (await signIn()) && again()] : ["Try again", again];
  return toast(`${what} ${error.message}`, { wrong: true, action });
}

// Runs `work`; gives null where the service refuses, which is said.
export async function attempt(what, work, options = {}) {
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof Refused)) throw error;
    refused(what, error, () => attempt(what, work, options), options);
    return null;
  }
}

// The same for a button: pressed again while it is at work, it does nothing.
export function action(what, work, options = {}) {
  let isAtWork = false;
  return async () => {
    if (isAtWork) return;
    isAtWork = true;
    await attempt(what, work, options).finally(() => { isAtWork = false; });
  };
}
