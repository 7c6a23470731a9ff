// Texts that are being typed. They outlast a reload and the end of the session, in the same tab and for the same user.

const PREFIX = "kiebitz-draft ";

function store(key, text) {
  try {
    if (text) sessionStorage.setItem(key, text);
    else sessionStorage.removeItem(key);
  } catch {
    // The browser stores nothing for this page: the text is lost with the page.
  }
}

function stored(key) {
  try {
    return sessionStorage.getItem(key) ?? "";
  } catch {
    return "";
  }
}

/** Restores the text of a field, and keeps it as it changes. `name` identifies user and field. */
export class Draft {
  constructor(input, ...name) {
    this.key = PREFIX + JSON.stringify(name);
    this.isRestored = stored(this.key) !== "";
    if (this.isRestored) input.value = stored(this.key);
    input.addEventListener("input", () => store(this.key, input.value));
  }

  /** Forgets the text, once the server has it. */
  done() {
    store(this.key, "");
  }
}

/** Forgets all texts, when the user logs out. */
export function forgetDrafts() {
  try {
    const keys = Object.keys(sessionStorage).filter((key) => key.startsWith(PREFIX));
    for (const key of keys) sessionStorage.removeItem(key);
  } catch {
    // Nothing is stored.
  }
}
