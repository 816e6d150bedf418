// Explains errors in plain words, without the names of fields, headers and statuses.

const EMAIL = "Enter an email address, such as ann@example.org.";
const UNREACHED = "The server cannot be reached. Check the connection, and try again.";
const BY_STATUS = {
  401: "Sign in to continue.",
  403: "You do not have permission to do this.",
  404: "This does not exist any more.",
  412: "This was changed elsewhere in the meantime.",
  413: "This is too large.",
  429: "That was too many requests at once. Wait a moment, and try again.",
};
const BY_CODE = {
  body_too_large: "This is too large.",
  condition_failed: "This was changed elsewhere in the meantime.",
  idempotency_in_progress: "This is already being saved. Wait a moment.",
  idempotency_mismatch: "An earlier version of this was already saved. Check what is there now.",
  invalid_cursor: "This list has changed in the meantime. Reload the page.",
  item_missing: "This does not exist any more.",
  not_found: "This does not exist any more.",
  precondition_failed: "This was changed elsewhere in the meantime.",
  precondition_required: "This was changed elsewhere in the meantime.",
  rate_limited: "That was too many requests at once. Wait a moment, and try again.",
  sign_in_failed: "The sign-in failed. Sign in again.",
  transaction_conflict: "Somebody else is changing this right now. Try again.",
  version_conflict: "This was changed elsewhere in the meantime.",
};
// Patterns of validation messages, and the text that a person sees instead.
const CHECKS = [
  [/^Field required|at least 1 (character|item)|^Input should be a valid string/, () => "Fill this in."],
  [/at least (\d+) characters/, (least) => `Write at least ${least} characters.`],
  [/at most (\d+) characters?/, (most) => `Write at most ${most} characters.`],
  [/at most (\d+) items?/, (most) => `Choose at most ${most}.`],
  [/greater than or equal to (-?[\d.]+)/, (least) => `Enter ${least} or more.`],
  [/greater than (-?[\d.]+)/, (least) => `Enter more than ${least}.`],
  [/less than or equal to (-?[\d.]+)/, (most) => `Enter ${most} or less.`],
  [/less than (-?[\d.]+)/, (most) => `Enter less than ${most}.`],
  [/valid (integer|number|decimal)/, () => "Enter a number."],
  [/valid date|YYYY-MM-DD|valid datetime/, () => "Enter a date."],
  [/^has an? (?:invisible|control) character: .* (\d+)$/, (place) => `Remove the invisible character at position ${place}.`],
  [/^has a character that changes the direction .* (\d+)$/, (place) => `Remove the invisible character at position ${place}, which changes the direction of the text.`],
  [/^must be one line/, () => "Write this in one line, without tabs."],
  [/^has no visible character/, () => "Fill this in."],
  [/email/i, () => EMAIL],
  [/^(Input|String|Extra|Value) |should (be|have|match)/, () => "This value is not valid."],
];

// One sentence for an error response, or for a missing response (status 0).
export function explain(status, problem) {
  if (status === 0) return problem.detail ?? UNREACHED;
  if (status >= 500) return "The service is in trouble right now. Try again in a moment.";
  const wrong = (problem.errors ?? []).filter(({ message }) => message);
  if (wrong.length) return wrong.map(({ field, message }) => (field ? `${label(field)}: ${check(message, field)}` : check(message))).join(" ");
  if (status === 401 && /expired|revoked/.test(problem.detail) && !BY_CODE[problem.code]) return "Your sign-in has expired.";
  return BY_CODE[problem.code] ?? (problem.detail && !isForPrograms(problem.detail) ? inWords(problem.detail) : BY_STATUS[status] ?? "This could not be done.");
}

// The error of each field, by its name in the request.
export const fieldErrors = (error) => new Map((error.problem?.errors ?? []).map(({ field, message }) => [field, check(message, field)]));

function check(message, field = "") {
  if (/email$/i.test(field) && /^String should match/.test(message)) return EMAIL;
  for (const [pattern, words] of CHECKS) {
    const found = message.match(pattern);
    if (found) return words(...found.slice(1));
  }
  return isForPrograms(message) ? "This value is not valid." : sentence(inWords(message));
}

const isForPrograms = (text) => /[`{}]|Authorization|Bearer|ETag|If-Match|Idempotency|token|header|cursor|parameter|JSON|HTTP\b|PUT\b|(?:The|This) request|correlation_id|access pattern|capacity/i.test(text);
// Names of fields, such as closesAt and due_to, as separate words. Names in quotes stay.
const inWords = (text) => text.replace(/(?<!')\b[a-z]+(?:_[a-z]+|[A-Z][a-z]+)+\b/g, (name) => name.replaceAll("_", " ").replace(/(?<=[a-z])[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`));
const label = (field) => sentence(inWords(field.split(".").at(-1)), "");
const sentence = (text, end = ".") => text[0].toUpperCase() + text.slice(1) + (/[.!?]$/.test(text) ? "" : end);
