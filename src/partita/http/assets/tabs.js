// Other tabs of this browser: what is changed in one, the others read again.

// Gives the function that tells the others; `heard` is called with what another tab tells, until `signal` ends it.
export function tabs(name, heard, signal = undefined) {
  const channel = new BroadcastChannel(`partita tabs ${name}`);
  channel.onmessage = ({ data }) => heard(data);
  signal?.addEventListener("abort", () => channel.close());
  return (what) => signal?.aborted || channel.postMessage(what);
}
