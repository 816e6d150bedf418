// Signing in, as a user or as an operator.

import * as api from "./api.js";
import { signInPanel } from "/assets/signin.js";

export const signIn = (signedIn, problem) =>
  signInPanel({
    title: "A fair place in the queue, and you can see it",
    roles: ["user", "operator"],
    commands: ["partita token --user demo", "partita token --user boss --role operator"],
    check: api.events,
    signedIn,
    problem,
  });
