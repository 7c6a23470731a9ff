// Past games: the list of them, or one opened.

import { make } from "/page/dom.js";
import { boardOf } from "./follow.js";
import { Games } from "./games.js";
import { Review } from "./review.js";
import { ask } from "./session.js";
import { words } from "./words.js";

/** A recording of a long day takes a while to be played back. */
const PATIENCE = 120000;

/** What the address names of past games: `game` is null for the list; null: it names nothing of them. */
export function place() {
  if (/^#\/games\/?$/.test(location.hash)) return { game: null };
  const [, game] = /^#\/game\/([^/]+)$/.exec(location.hash) ?? [];
  if (game === undefined) return null;
  try {
    return { game: decodeURIComponent(game) };
  } catch {
    return { game };
  }
}

export class Archive {
  /**
   * `say` is read aloud; `left` is called when the session is over. `isHere`: there are past games to be looked at.
   * `entries` changes them.
   */
  constructor(say, left, isHere, entries) {
    this.left = left;
    this.isHere = isHere;
    /** All boards, as the desk knows them. */
    this.boards = new Map();
    const look = (address, asked) => this.look(address, asked);
    this.games = new Games(look, entries.ofTable());
    this.review = new Review(look, say, (id) => boardOf(this.boards, id), entries);
    this.element = make("div", "archive", { hidden: "" }, this.games.element, this.review.element);
    this.isOn = false;
  }

  /** Asks the server; returns {ok, answer}, or null where nobody waits for it any more: `asked` was aborted. */
  async look(address, asked) {
    let isLate = false;
    const late = setTimeout(() => {
      isLate = true;
      asked.abort();
    }, PATIENCE);
    try {
      const response = await ask(address, { signal: asked.signal });
      if (response.status === 401) this.left();
      const answer = await response.json().catch(() => ({}));
      return { ok: response.ok, answer };
    } catch {
      const isOver = asked.signal.aborted && !isLate;
      return isOver ? null : { ok: false, answer: { why: "silent", error: words.login.silent } };
    } finally {
      clearTimeout(late);
    }
  }

  /** Shows what the address names. Returns whether that is something of past games. */
  go() {
    const named = this.isHere ? place() : null;
    const before = this.isOn ? this.review.id : undefined;
    this.isOn = named !== null;
    this.element.hidden = !this.isOn;
    this.games.element.hidden = named?.game !== null;
    this.review.element.hidden = !named?.game;
    if (!this.isOn) {
      this.stop();
      return false;
    }
    if (named.game === null) {
      this.review.close();
      this.games.open(before ?? null, this.boards);
    } else {
      this.games.close();
      if (named.game !== this.review.id) this.review.open(named.game);
    }
    return true;
  }

  /** Something is new of these boards: what is shown follows. */
  follow(boards) {
    this.boards = boards;
    if (!this.isOn) return;
    if (this.review.id === null) this.games.follow(boards);
    else this.review.follow();
  }

  /** Nothing is asked any more. */
  stop() {
    this.review.close();
    this.games.close();
  }

  /** Takes a key; returns whether it meant something. */
  press(name) {
    if (this.review.id !== null) return this.review.press(name);
    if (name === "Escape") location.hash = "#/";
    return name === "Escape" || this.games.press(name);
  }
}
