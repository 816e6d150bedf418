// The address of a page: what it names after #, and what is chosen on the page as parameters, so that a link shows the same
// to somebody else, and Back goes back.

// What nobody has encoded, such as %E0%A4%A, is the name of nothing, and is looked for as it is.
export function decoded(part) {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}

// `names` are those of the parameters that are the page's; `changed` is called after Back and Forward.
export function parameters(names, changed) {
  const read = () => {
    const given = new URLSearchParams(location.search);
    return Object.fromEntries(names.map((name) => [name, given.get(name) ?? ""]));
  };
  addEventListener("popstate", () => changed(read()));
  return {
    read,
    // Typing replaces the address, choosing makes a new one.
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
