// What the address after # names.

// What nobody has encoded, such as %E0%A4%A, is the name of nothing, and is looked for as it is.
export function decoded(part) {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}
