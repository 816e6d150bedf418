// Work that may be refused: shows why, with a button to try it again.

import { Refused } from "./api.js";
import { signInAgain } from "./signin.js";
import { toast } from "./toast.js";

// Shows why something was not done, with a button that calls `again`, after signing in if that was missing.
export function refused(what, error, again, { signIn = signInAgain } = {}) {
  const action = error.status === 401 ? ["Sign in", async () => (await signIn()) && again()] : ["Try again", again];
  return toast(`${what} ${error.message}`, { wrong: true, action });
}

// Runs `work`. If the service refuses, shows why and returns null.
export async function attempt(what, work, options = {}) {
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof Refused)) throw error;
    refused(what, error, () => attempt(what, work, options), options);
    return null;
  }
}

// The same for a button: pressing it again while the work is running does nothing.
export function action(what, work, options = {}) {
  let isAtWork = false;
  return async () => {
    if (isAtWork) return;
    isAtWork = true;
    await attempt(what, work, options).finally(() => { isAtWork = false; });
  };
}
