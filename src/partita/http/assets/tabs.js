// Other tabs of this browser: what is changed in one, the others read again.

// Gives the function that tells the others; `heard` is called with what another tab tells.
export function tabs(name, heard) {
  const channel = new BroadcastChannel(`partita tabs ${name}`);
  channel.onmessage = ({ data }) => heard(data);
  return (what) => channel.postMessage(what);
}
