// Signing in to the board.

import * as api from "./api.js";
import { signInPanel } from "/assets/signin.js";

export const signIn = (signedIn, problem) =>
  signInPanel({
    title: "Everything there is to do, on one board",
    commands: ["partita token --user demo"],
    check: () => api.list({ status: "pending" }),
    signedIn,
    problem,
  });
