// The large view of one game: a board, and the moves with their times to step through.

import { Side, START, board, numbered, spoken, squares } from "./card.js";
import * as clock from "./clock.js";
import { Curve } from "./curve.js";
import { button, make, say } from "./dom.js";
import { address } from "./options.js";
import { tableName } from "./tables.js";
import { ending, move, words } from "./words.js";

/** Distance that a finger must move sideways to open another board, in CSS pixels. */
const SWIPE = 60;

export class Large {
  /** `read` fetches the moves of a game, given its round and number. */
  constructor(read) {
    this.read = read;
    this.moves = [];
    this.start = START;
    this.first = { color: "white", number: 1 };
    this.follows = true;
    this.ply = 0;
    this.orientation = "white";
    /** Whether games have pages of their own for links, from which other sites take previews. */
    this.hasPreviews = false;
    this.build();
  }

  build() {
    this.sides = { white: new Side("white", false, true), black: new Side("black", false, true) };
    this.board = make("div", "board", { "aria-hidden": "true" });
    this.stage = make("div", "stage", {}, this.sides.black.element, this.board, this.sides.white.element);
    const step = (name, shown, act) => button(name, words[name], shown, act);
    this.keys = make(
      "div",
      "keys",
      {},
      step("first", "⇤", () => this.go(0)),
      step("before", "←", () => this.go(this.ply - 1)),
      step("after", "→", () => this.go(this.ply + 1)),
      step("last", "⇥", () => this.go(Infinity)),
      step("flip", "⇅", () => this.flip()),
    );
    this.title = make("h1", "", { tabindex: "-1" });
    this.ended = make("p", "ended");
    this.list = make("ol", "moves", { "aria-label": words.moves, tabindex: "0" });
    this.curve = new Curve();
    this.said = make("p", "spoken", { "aria-live": "polite" });
    this.behind = make("p", "behind");
    this.behind.append(button("", words.notFollowing, words.notFollowing, () => this.go(Infinity)));
    this.links = make("nav", "links");
    this.back = make("a", "back", { "aria-label": words.back }, `‹ ${words.grid}`);
    this.near = make("span", "near");
    const bar = make("nav", "bar", { "aria-label": words.otherBoards }, this.back, this.title, this.near);
    const paper = make("div", "paper", {}, this.ended, this.list, this.behind, this.curve.element, this.links);
    this.element = make("section", "large", {}, bar, make("div", "left", {}, this.stage, this.keys), paper, this.said);
    this.swipe();
    this.list.addEventListener("click", (event) => {
      const ply = event.target.closest("[data-ply]")?.dataset.ply;
      if (ply) this.go(Number(ply));
    });
  }

  /** Lets a finger that moves sideways over the board open the next or the previous board. */
  swipe() {
    let from = null;
    this.stage.addEventListener("pointerdown", (event) => {
      from = event.pointerType === "touch" && event.isPrimary ? [event.clientX, event.clientY] : null;
    });
    this.stage.addEventListener("pointercancel", () => (from = null));
    this.stage.addEventListener("pointerup", (event) => {
      if (!from || !event.isPrimary) return;
      const [over, down] = [event.clientX - from[0], event.clientY - from[1]];
      from = null;
      if (Math.abs(over) < SWIPE || Math.abs(over) < 2 * Math.abs(down)) return;
      const to = over < 0 ? this.next : this.previous;
      if (to) location.hash = address(this.round, to);
    });
  }

  /** Shows a game. `number` is the number in its file names; `tables` are all tables of the round. */
  update(game, round, number, tables) {
    const isOther = this.game?.table !== game.table || this.round !== round;
    const before = this.game;
    Object.assign(this, { game, round, number });
    if (isOther) {
      Object.assign(this, { moves: [], follows: true, ply: 0, shown: null, written: null, tables: null });
      this.list.replaceChildren();
      this.curve.update([], "white", 1);
    }
    if (this.tables !== tables.join()) this.drawLinks(tables);
    this.tables = tables.join();
    for (const side of ["white", "black"]) this.sides[side].update(game);
    say(this.title, `${words.round} ${round} · ${words.board} ${tableName(game.table)}`);
    say(this.ended, ending(game, true));
    if (this.follows) this.show();
    else this.drawClocks();
    if (isOther || before?.last?.ply !== game.last?.ply || this.isBehind()) this.fetch();
  }

  /** Whether moves are missing, or the time taken for the last one, which arrives later than the move. */
  isBehind() {
    return this.moves.length !== (this.game.last?.ply ?? 0) || this.moves.at(-1)?.taken_ms === null;
  }

  async fetch() {
    const { round, number } = this;
    const turn = (this.turns = (this.turns ?? 0) + 1);
    const read = this.game.last ? await this.read(round, number).catch(() => null) : null;
    const isLate = turn < (this.arrived ?? 0);
    if (!read || isLate || round !== this.round || number !== this.number) return;
    this.arrived = turn;
    const [, color, , , , count] = read.start.split(" ");
    this.start = read.start.split(" ")[0];
    this.first = { color: color === "b" ? "black" : "white", number: Number(count) || 1 };
    this.moves = read.moves;
    this.drawMoves();
    this.curve.update(this.moves, this.first.color, this.first.number);
    if (this.follows) this.ply = this.moves.length;
    this.ply = Math.min(this.ply, this.moves.length);
    this.show();
  }

  /** The move number and the side of a ply. */
  place(ply) {
    const at = ply - 1 + (this.first.color === "black" ? 1 : 0);
    return { number: this.first.number + Math.floor(at / 2), color: at % 2 ? "black" : "white" };
  }

  drawMoves() {
    const texts = this.moves.map((played) => JSON.stringify(played));
    const known = this.written ?? [];
    let same = 0;
    while (same < known.length && known[same] === texts[same]) same += 1;
    this.written = texts;
    for (const old of [...this.list.querySelectorAll("[data-ply]")]) {
      if (Number(old.dataset.ply) > same) old.remove();
    }
    for (const row of [...this.list.children]) if (!row.querySelector("[data-ply]")) row.remove();
    for (let ply = same + 1; ply <= this.moves.length; ply += 1) {
      const { number, color } = this.place(ply);
      if (color === "white" || !this.list.lastElementChild) {
        const row = make("li", "", {}, make("span", "number", {}, `${number}.`));
        if (color === "black") row.append(make("span", "gap", {}, "…"));
        this.list.append(row);
      }
      this.list.lastElementChild.append(this.moveButton(ply));
    }
  }

  moveButton(ply) {
    const { san, left_ms: left, taken_ms: taken } = this.moves[ply - 1];
    const times = [left === null ? "" : clock.text(left), (taken ?? 0) < 500 ? "" : `+${clock.taken(taken)}`];
    const spent = make("span", "times", {}, times.filter(Boolean).join(" "));
    return make("button", "move", { type: "button", "data-ply": ply, tabindex: "-1" }, make("b", "", {}, move(san)), spent);
  }

  /** Shows the position after a ply. At the last ply the view follows new moves. */
  go(ply) {
    this.ply = Math.max(0, Math.min(ply, this.moves.length));
    this.follows = this.ply === this.moves.length;
    this.show();
  }

  flip() {
    this.orientation = this.orientation === "white" ? "black" : "white";
    this.stage.classList.toggle("turned", this.orientation === "black");
    this.ground?.set({ orientation: this.orientation });
  }

  show() {
    const { game } = this;
    const played = this.moves[this.ply - 1];
    const past = this.ply === 0 && this.moves.length ? this.start : played?.placement;
    const placement = this.follows ? game.placement : past ?? game.placement;
    const uci = this.follows ? game.last?.uci : played?.uci;
    this.drawBoard(placement, uci);
    this.drawClocks();
    for (const old of this.list.querySelectorAll(".now")) {
      old.classList.remove("now");
      old.removeAttribute("aria-current");
    }
    const current = this.list.querySelector(`[data-ply="${this.ply}"]`);
    if (current) {
      current.classList.add("now");
      current.setAttribute("aria-current", "true");
      // Scroll only the list, not the page.
      const { offsetTop, offsetHeight } = current.parentElement;
      const from = this.list.scrollTop;
      if (offsetTop < from || offsetTop + offsetHeight > from + this.list.clientHeight) {
        this.list.scrollTop = offsetTop - this.list.clientHeight / 2;
      }
    }
    this.curve.point(this.ply);
    this.behind.hidden = this.follows;
    this.announce(played);
  }

  announce(played) {
    const { game } = this;
    let text = this.follows ? spoken(game) : words.start;
    if (!this.follows && played) {
      const last = { ...this.place(this.ply), san: played.san };
      text = [numbered(last), played.left_ms === null ? "" : clock.text(played.left_ms)].filter(Boolean).join(", ");
    }
    // A new clock reading alone must not repeat the announcement.
    const key = `${this.follows} ${this.ply} ${game.table} ${game.last?.ply} ${game.result}`;
    if (key !== this.key) say(this.said, text);
    this.key = key;
  }

  drawBoard(placement, uci) {
    const shown = `${placement} ${uci}`;
    this.board.classList.toggle("empty", placement === null);
    if (placement === null || shown === this.shown) return;
    this.shown = shown;
    if (this.ground) this.ground.set({ fen: placement, lastMove: squares(uci) });
    else this.ground = board(this.board, placement, uci, true, true);
    this.ground.set({ orientation: this.orientation });
  }

  /** Draws the current clocks, or those after the ply shown. Returns whether any shows tenths of a second. */
  drawClocks() {
    if (!this.game) return false;
    const shown = this.follows ? this.game.clock : this.pastClock();
    const hurries = ["white", "black"].map((side) => this.sides[side].draw(shown));
    return this.follows && hurries.includes(true);
  }

  pastClock() {
    const past = { white_ms: null, black_ms: null, running: null, as_of: null };
    for (let ply = 1; ply <= this.ply; ply += 1) {
      past[`${this.place(ply).color}_ms`] = this.moves[ply - 1].left_ms;
    }
    return past;
  }

  drawLinks(tables) {
    const { round, number, game } = this;
    const at = tables.indexOf(game.table);
    [this.previous, this.next] = [tables[at - 1], tables[at + 1]];
    const link = (text, href, attributes = {}) => make("a", "", { href, ...attributes }, text);
    this.back.href = address(round);
    const other = (sign, label, table, rel) =>
      table && link(sign, address(round, table), { rel, "aria-label": `${label}: ${words.board} ${tableName(table)}`, title: label });
    const near = [
      other("‹", words.previousBoard, this.previous, "prev"),
      other("›", words.nextBoard, this.next, "next"),
    ];
    this.near.replaceChildren(...near.filter(Boolean));
    this.links.replaceChildren(
      link(words.linkBoard, address(null, game.table)),
      link(words.linkGame, this.hasPreviews && game.has_board ? `round-${round}/board-${number}.html` : address(round, game.table)),
      link(words.pgn, `round-${round}/game-${number}.pgn`),
    );
  }

  /** Handles a key. Returns whether the key has a function. */
  press(name) {
    const acts = {
      ArrowLeft: () => this.go(this.ply - 1),
      ArrowRight: () => this.go(this.ply + 1),
      Home: () => this.go(0),
      End: () => this.go(Infinity),
      f: () => this.flip(),
      Escape: () => {
        location.hash = address(this.round);
      },
    };
    acts[name]?.();
    return name in acts;
  }
}
