// Verifies a draw from the published values alone, with the browser's own cryptography.

const bytes = (hex) => Uint8Array.from(hex.match(/../g) ?? [], (pair) => Number.parseInt(pair, 16));
const hex = (buffer) => [...new Uint8Array(buffer)].map((byte) => byte.toString(16).padStart(2, "0")).join("");
const text = (value) => new TextEncoder().encode(value);
const sha256 = async (data) => hex(await crypto.subtle.digest("SHA-256", data));

// Returns each check with whether it holds. `published` is the commitment that was published with the event.
export async function verify(draw, published) {
  const seed = bytes(draw.seed);
  const entries = [...draw.winners, ...draw.waitingList];
  const [source, entropy] = [draw.entropySource ?? null, draw.entropy ?? null];
  const order = await ranked(entropy === null ? seed : await hmac(seed, text(entropy)), draw.eventId, entries);
  const committed = await sha256(new Uint8Array([...seed, ...text(source ?? "")]));
  const winners = order.slice(0, draw.capacityTotal);
  return [
    ["The commitment is the one that was published with the event", draw.commitment === published],
    ["The seed matches the commitment", committed === draw.commitment],
    ...(source === null ? [] : [[`The external value was supplied after the entries were frozen; compare it with ${source}: ${entropy}`, entropy !== null && draw.entropyAt >= draw.drawnAt]]),
    ["The entries are those that were frozen", (await sha256(text([...entries].sort().join("\n")))) === draw.entriesHash],
    ["The winners are those that the seed draws", same(winners, draw.winners)],
    ["The waiting list is in the order that the seed draws", same(order.slice(draw.capacityTotal), draw.waitingList)],
  ];
}

const hmacKey = (key) => crypto.subtle.importKey("raw", key, { name: "HMAC", hash: "SHA-256" }, false, ["sign"]);
const hmac = async (key, data) => new Uint8Array(await crypto.subtle.sign("HMAC", await hmacKey(key), data));

async function ranked(secret, eventId, entries) {
  const key = await hmacKey(secret);
  const ranks = new Map();
  for (const entry of entries) ranks.set(entry, hex(await crypto.subtle.sign("HMAC", key, text(`${eventId}|${entry}`))));
  return [...entries].sort((a, b) => (ranks.get(a) < ranks.get(b) ? -1 : 1));
}

const same = (a, b) => a.length === b.length && a.every((each, at) => each === b[at]);
