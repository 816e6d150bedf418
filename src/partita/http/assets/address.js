// The address of a page: a name after #, and the choices on the page as parameters, so that a link shows somebody else the
// same view, and Back goes back.

// A part that is not validly encoded, such as %E0%A4%A, is returned as it is.
export function decoded(part) {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}

// `names` are the names of the page's parameters; `changed` is called after Back and Forward.
export function parameters(names, changed) {
  const read = () => {
    const given = new URLSearchParams(location.search);
    return Object.fromEntries(names.map((name) => [name, given.get(name) ?? ""]));
  };
  addEventListener("popstate", () => changed(read()));
  return {
    read,
    // Typing replaces the current history entry; choosing adds one.
    write(values, { isTyped = false } = {}) {
      const address = new URL(location.href);
      for (const name of names) {
        if (values[name]) address.searchParams.set(name, values[name]);
        else address.searchParams.delete(name);
      }
      if (address.href === location.href) return;
      history[isTyped ? "replaceState" : "pushState"](null, "", address);
    },
  };
}

// The same for addresses with a name after #: `#/TR?as_of=1999-12-31` has the name TR. Links to `#/…` on the page keep the
// parameters in `kept`, unless the link sets them itself. `changed` is also called after such links.
export function hashParameters(names, changed, { kept = [] } = {}) {
  const parsed = (hash) => {
    const [, name = "", text = ""] = /^#\/([^?]*)\??(.*)$/.exec(hash) ?? [];
    const given = new URLSearchParams(text);
    return { name: decoded(name), ...Object.fromEntries(names.map((each) => [each, given.get(each) ?? ""])) };
  };
  const href = ({ name = "", ...values }) => {
    const text = new URLSearchParams(names.filter((each) => values[each]).map((each) => [each, values[each]])).toString();
    return `#/${encodeURIComponent(name)}${text && `?${text}`}`;
  };
  const read = () => parsed(location.hash);
  const write = (values, { isTyped = false } = {}) => {
    const address = href({ ...read(), ...values });
    if (address !== location.hash) history[isTyped ? "replaceState" : "pushState"](null, "", address);
  };
  const go = (values) => {
    write(values);
    changed(read());
  };
  addEventListener("popstate", () => changed(read()));
  document.addEventListener("click", (event) => {
    const link = event.target.closest?.('a[href^="#/"]');
    if (!link || event.defaultPrevented || event.button || event.ctrlKey || event.metaKey || event.shiftKey || event.altKey) return;
    event.preventDefault();
    const { name, ...given } = parsed(link.getAttribute("href"));
    const now = read();
    go({ name, ...Object.fromEntries(names.map((each) => [each, given[each] || (kept.includes(each) ? now[each] : "")])) });
  });
  return { read, write, go, href };
}
