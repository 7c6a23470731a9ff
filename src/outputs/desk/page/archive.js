// Past games: the list, or one opened game.

import { make } from "/page/dom.js";
import { askedGames } from "./asked.js";
import { Entries } from "./entry.js";
import { boardOf } from "./follow.js";
import { Games } from "./games.js";
import { Review } from "./review.js";
import { ask } from "./session.js";
import { words } from "./words.js";

/** Timeout of a request, in milliseconds. The playback of a long recording takes a while. */
const PATIENCE = 120000;

export class Archive {
  /** `say` announces a text to screen readers; `left` is called when the session has ended. */
  constructor(session, source, say, left) {
    const entries = new Entries(session, source, say);
    this.left = left;
    /** Latest statuses of all boards, by name. */
    this.boards = new Map();
    const look = (address, asked) => this.look(address, asked);
    this.games = new Games(look, entries.ofTable());
    this.review = new Review(look, say, (id) => boardOf(this.boards, id), entries);
    this.element = make("div", "archive", { hidden: "" }, this.games.element, this.review.element);
    this.isOn = false;
  }

  /** Sends a request; returns {ok, answer}, or null if the controller `asked` was aborted by the caller. */
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

  /** Shows the page that the address names. Returns whether the address is about past games. */
  go() {
    const named = askedGames();
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

  /** Updates the view after a change of these boards. */
  follow(boards) {
    this.boards = boards;
    if (!this.isOn) return;
    if (this.review.id === null) this.games.follow(boards);
    else this.review.follow();
  }

  /** Stops all requests. */
  stop() {
    this.review.close();
    this.games.close();
  }

  /** Handles a key; returns whether it has a function here. */
  press(name) {
    if (this.review.id !== null) return this.review.press(name);
    if (name === "Escape") location.hash = "#/";
    return name === "Escape" || this.games.press(name);
  }
}
