// Messages between the tabs of this browser, so that they read again what one of them has changed.

// Returns a function that sends a message to the other tabs; `heard` is called with their messages, until `signal` aborts.
export function tabs(name, heard, signal = undefined) {
  const channel = new BroadcastChannel(`partita tabs ${name}`);
  channel.onmessage = ({ data }) => heard(data);
  signal?.addEventListener("abort", () => channel.close());
  return (what) => signal?.aborted || channel.postMessage(what);
}
