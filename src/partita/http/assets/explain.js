// What went wrong, in people's words: nothing of fields, headers and statuses.

const UNREACHED = "The server cannot be reached. Check the connection, and try again.";
const BY_STATUS = {
  401: "Sign in to go on.",
  403: "You may not do this.",
  404: "This does not exist any more.",
  412: "This was changed elsewhere meanwhile.",
  413: "This is too large.",
  429: "That was too much at once. Wait a moment, and try again.",
};
const BY_CODE = {
  body_too_large: "This is too large.",
  condition_failed: "This was changed elsewhere meanwhile.",
  idempotency_in_progress: "This is being saved already. Wait a moment.",
  idempotency_mismatch: "What you sent before was saved, and this is different. Look at what is there now.",
  invalid_cursor: "This list has changed meanwhile. Load the page again.",
  item_missing: "This does not exist any more.",
  not_found: "This does not exist any more.",
  precondition_failed: "This was changed elsewhere meanwhile.",
  precondition_required: "This was changed elsewhere meanwhile.",
  rate_limited: "That was too much at once. Wait a moment, and try again.",
  sign_in_failed: "You were not let in. Sign in again.",
  transaction_conflict: "Somebody else changes this right now. Try again.",
  version_conflict: "This was changed elsewhere meanwhile.",
};
// The words of the checks of a field, and what a person is told.
const CHECKS = [
  [/^Field required|at least 1 (character|item)|^Input should be a valid string/, () => "Fill this in."],
  [/at least (\d+) characters/, (least) => `Write at least ${least} characters.`],
  [/at most (\d+) characters?/, (most) => `Write at most ${most} characters.`],
  [/at most (\d+) items?/, (most) => `Choose at most ${most}.`],
  [/greater than or equal to (-?[\d.]+)/, (least) => `Give ${least} or more.`],
  [/greater than (-?[\d.]+)/, (least) => `Give more than ${least}.`],
  [/less than or equal to (-?[\d.]+)/, (most) => `Give ${most} or less.`],
  [/less than (-?[\d.]+)/, (most) => `Give less than ${most}.`],
  [/valid (integer|number|decimal)/, () => "Give a number."],
  [/valid date|YYYY-MM-DD|valid datetime/, () => "Give a date."],
  [/email/i, () => "Give an email address, such as ann@example.org."],
  [/^(Input|String|Extra|Value) |should (be|have|match)/, () => "This cannot be taken as it is."],
];

// One sentence for a response that was refused, or never came (status 0).
export function explain(status, problem) {
  if (status === 0) return problem.detail ?? UNREACHED;
  if (status >= 500) return "The service is in trouble right now. Try again in a moment.";
  const wrong = (problem.errors ?? []).filter(({ message }) => message);
  if (wrong.length) return wrong.map(({ field, message }) => `${label(field)}: ${check(message)}`).join(" ");
  if (status === 401 && /expired|revoked/.test(problem.detail) && !BY_CODE[problem.code]) return "Your sign-in has expired.";
  return BY_CODE[problem.code] ?? (problem.detail && !isForPrograms(problem.detail) ? inWords(problem.detail) : BY_STATUS[status] ?? "This could not be done.");
}

// What is wrong with each field, by its name in the request.
export const fieldErrors = (error) => new Map((error.problem?.errors ?? []).map(({ field, message }) => [field, check(message)]));

function check(message) {
  for (const [pattern, words] of CHECKS) {
    const found = message.match(pattern);
    if (found) return words(...found.slice(1));
  }
  return isForPrograms(message) ? "This cannot be taken as it is." : sentence(inWords(message));
}

const isForPrograms = (text) => /[`{}]|Authorization|Bearer|ETag|If-Match|Idempotency|token|header|cursor|parameter|JSON|HTTP\b|PUT\b|(?:The|This) request|correlation_id|access pattern|capacity/i.test(text);
// Names of fields, such as closesAt and due_to, as people would write them.
const inWords = (text) => text.replace(/\b[a-z]+(?:_[a-z]+|[A-Z][a-z]+)+\b/g, (name) => name.replaceAll("_", " ").replace(/(?<=[a-z])[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`));
const label = (field) => sentence(inWords(field.split(".").at(-1) || "What was sent"), "");
const sentence = (text, end = ".") => text[0].toUpperCase() + text.slice(1) + (/[.!?]$/.test(text) ? "" : end);
