// A game in the overview: board, players and clocks.

import { Chessground } from "./chessground/chessground.min.js";
import * as clock from "./clock.js";
import { button, isCalm, make, mark, say } from "./dom.js";
import { address, isPinned, pin, playerAddress } from "./options.js";
import { tableName } from "./tables.js";
import { ending, initialed, isOver, lastName, move, score, shortName, words } from "./words.js";

const SIDES = ["white", "black"];
/** Font size below which double names get initials, relative to the usual size. */
const SMALL = 0.75;
/** Minimum font size of a name, relative to the usual size. */
const SMALLEST = 0.4;
export const START = "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR";

/** The two squares of a move, in chessground's format. */
export function squares(uci) {
  return uci ? [uci.slice(0, 2), uci.slice(2, 4)] : undefined;
}

/** A read-only board. With `moves`, its pieces are animated; with `coordinates`, its squares have them. */
export function board(element, placement, uci, moves, coordinates = false) {
  return Chessground(element, {
    fen: placement,
    lastMove: squares(uci),
    viewOnly: true,
    coordinates,
    disableContextMenu: false,
    drawable: { enabled: false, visible: false },
    animation: { enabled: moves && !isCalm(), duration: 180 },
  });
}

/** The line of a player: title, name, score and clock; below, smaller, rating, federation and team. */
export class Side {
  /** With `isShort`, first names are initials. With `isLink`, the name leads to the player. */
  constructor(side, isShort = false, isLink = false) {
    this.side = side;
    this.isShort = isShort;
    this.title = make("abbr", "title");
    this.name = make("span", "name");
    this.more = make("span", "more");
    this.score = make("span", "score");
    this.clock = make("span", "clock");
    const who = make("span", "who", {}, this.title, this.name);
    this.lines = make(isLink ? "a" : "span", "lines", {}, who, this.more);
    this.isLink = isLink;
    this.element = make("span", `side ${side}`, {}, this.lines, this.score, this.clock);
  }

  update(game) {
    const player = game[this.side];
    const name = this.isShort ? shortName(player.name) : player.name ?? words.nobody;
    const named = `${player.title ?? ""} ${name}`;
    // A name that was shortened to fit is kept until the player changes.
    if (this.named !== named) {
      this.named = named;
      this.fitted = "";
      this.name.style.fontSize = "";
      say(this.title, player.title ?? "");
      say(this.name, name);
    }
    say(this.more, [player.rating, player.federation, player.team].filter(Boolean).join(" · "));
    say(this.score, score(game, this.side));
    if (this.isLink) mark(this.lines, "href", player.name ? playerAddress(player.name) : null);
  }

  /**
   * Fits the name on a board of `size` pixels. If it is cut off, abbreviates the first name, then omits it, then omits
   * the title, and finally reduces the font size.
   */
  shorten(game, size) {
    const { name, title } = game[this.side];
    const fitted = `${size} ${this.named} ${this.score.textContent} ${this.clock.textContent.length}`;
    if (this.fitted === fitted) return;
    this.fitted = fitted;
    // Measured beside a running clock, which is wider, so that the name does not change when the clock starts.
    const runs = this.element.classList.contains("runs");
    this.element.classList.add("runs");
    const part = () => this.name.clientWidth / this.name.scrollWidth;
    this.name.style.fontSize = "";
    say(this.title, title ?? "");
    say(this.name, this.isShort ? shortName(name) : name ?? words.nobody);
    if (part() < 1) say(this.name, shortName(name));
    if (part() < 1) say(this.name, lastName(name));
    if (part() < 1) say(this.title, "");
    if (part() < SMALL) say(this.name, initialed(lastName(name)));
    // Slightly smaller, because widths are rounded.
    if (part() < 1) this.name.style.fontSize = `${Math.max(SMALLEST, part() - 0.02).toFixed(2)}em`;
    this.element.classList.toggle("runs", runs);
  }

  /** Draws the clock. Returns whether it shows tenths of a second. */
  draw(shown) {
    const runs = shown?.running === this.side;
    say(this.clock, clock.text(clock.left(shown, this.side), runs));
    this.element.classList.toggle("runs", runs);
    return clock.hurries(shown, this.side);
  }
}

/** A move with its number, as in "23. Nf3" or "23... Nf6". */
export function numbered(last) {
  return last ? `${last.number}.${last.color === "white" ? "" : ".."} ${move(last.san)}` : "";
}

/** The text of a game for screen readers. */
export function spoken(game) {
  const times = SIDES.map((side) => clock.text(clock.left(game.clock, side)));
  const parts = [
    `${words.board} ${tableName(game.table)}`,
    `${lastName(game.white.name)}–${lastName(game.black.name)}`,
    numbered(game.last),
    times.every(Boolean) ? times.join(" – ") : "",
    ending(game, true),
  ];
  return parts.filter(Boolean).join(", ");
}

// Only visible boards are drawn.
const seen = new IntersectionObserver(
  (entries) => {
    for (const { target, isIntersecting } of entries) target.card.see(isIntersecting);
  },
  { rootMargin: "200px" },
);

export class Card {
  /** `pinned` is called when the board is pinned or unpinned. With `isShort`, first names are initials. */
  constructor(pinned, isShort = false) {
    this.game = null;
    /** Whether the pieces are animated. Animating many boards would be too much for a phone. */
    this.moves = false;
    this.isSeen = false;
    this.sides = { white: new Side("white", isShort), black: new Side("black", isShort) };
    this.board = make("span", "board");
    this.unknown = make("span", "unknown", { hidden: "" }, words.hidden);
    const frame = make("span", "frame", {}, this.board, this.unknown);
    this.table = make("span", "table");
    this.last = make("span", "last");
    this.result = make("span", "");
    this.reason = make("span", "reason");
    this.ended = make("span", "ended", {}, this.result, this.reason);
    const foot = make("span", "foot", {}, this.table, this.last, this.ended);
    // For screen readers, the label of the link that covers the card replaces its content.
    const face = make("div", "face", { "aria-hidden": "true" });
    face.append(this.sides.black.element, frame, this.sides.white.element, foot);
    this.link = make("a", "open");
    this.pin = button("pin", "", "☆", () => {
      pin(this.game.table);
      this.drawPin();
      pinned();
    });
    this.element = make("li", "card", {}, face, this.link, this.pin);
    this.element.card = this;
    seen.observe(this.element);
  }

  /** Shows a game. Updates only elements that have changed. */
  update(game, round) {
    const isOther = this.game?.table !== game.table;
    this.game = game;
    for (const side of SIDES) this.sides[side].update(game);
    mark(this.link, "href", address(round, game.table));
    mark(this.link, "aria-label", spoken(game));
    say(this.table, tableName(game.table));
    say(this.last, numbered(game.last));
    // Without the score, which is shown beside the names.
    say(this.ended, ending(game));
    this.element.classList.toggle("live", game.live);
    this.element.classList.toggle("over", isOver(game));
    if (isOther) this.drawPin();
    this.draw();
    this.drawBoard();
  }

  see(isSeen) {
    this.isSeen = isSeen;
    if (!isSeen || !this.game) return;
    this.drawBoard();
    this.draw();
  }

  drawBoard() {
    const { placement, last } = this.game;
    this.unknown.hidden = placement !== null;
    const shown = `${placement} ${last?.uci}`;
    if (!this.isSeen || placement === null || shown === this.shown) return;
    this.shown = shown;
    if (this.ground) this.ground.set({ fen: placement, lastMove: squares(last?.uci) });
    else this.ground = board(this.board, placement, last?.uci, this.moves);
  }

  drawPin() {
    const pinned = isPinned(this.game.table);
    mark(this.pin, "aria-pressed", String(pinned));
    mark(this.pin, "aria-label", `${words.pin} ${tableName(this.game.table)}`);
    this.pin.title = `${words.pin} ${tableName(this.game.table)}`;
    say(this.pin, pinned ? "★" : "☆");
  }

  /** Draws the clocks. Returns whether any shows tenths of a second. */
  draw() {
    if (!this.isSeen || !this.game) return false;
    const hurries = SIDES.map((side) => this.sides[side].draw(this.game.clock));
    return hurries.includes(true);
  }

  /** Removes the card from the page. */
  remove() {
    seen.unobserve(this.element);
    this.ground?.destroy();
    this.element.remove();
  }
}
