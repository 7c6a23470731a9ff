// The diagram of the opened board, with both players and their clocks.

import { Chessground } from "/page/chessground/chessground.min.js";
import * as clock from "/page/clock.js";
import { button, isCalm, make, say } from "/page/dom.js";
import { owner, pieces } from "./position.js";
import { fill, words } from "./words.js";

const SIDES = ["white", "black"];
/** Order of the pieces in the description for screen readers. */
const ORDER = "kqrbnp";

function list(on, side) {
  const own = [...on].filter(([, letter]) => owner(letter) === side);
  own.sort(([, one], [, other]) => ORDER.indexOf(one.toLowerCase()) - ORDER.indexOf(other.toLowerCase()));
  return own.map(([square, letter]) => `${words.pieces[letter.toLowerCase()]} ${square}`).join(", ") || words.views.none;
}

export class Diagram {
  constructor() {
    this.orientation = "white";
    this.sides = {};
    for (const side of SIDES) {
      const [name, shown] = [make("span", "name"), make("span", "clock")];
      const element = make("div", `side ${side}`, {}, make("span", "color"), name, shown);
      this.sides[side] = { name, clock: shown, element };
    }
    this.frame = make("div", "frame", { "aria-hidden": "true" });
    this.caption = make("p", "caption");
    this.spoken = make("p", "spoken");
    const flip = button("flip", words.views.flip, "⇅", () => this.flip());
    this.stage = make("div", "stage", {}, this.sides.black.element, this.frame, this.sides.white.element);
    this.under = make("div", "under", {}, this.caption, flip);
    this.element = make("div", "diagram", {}, this.stage, this.under, this.spoken);
  }

  /** Updates the players, by default those of the game, and their clocks. */
  update(status, players = status.game?.players) {
    this.status = status;
    for (const side of SIDES) say(this.sides[side].name, players?.[side] ?? words[side]);
    this.pass();
  }

  /** Updates the clocks; returns whether one shows tenths of a second. */
  pass() {
    const { clock: shown, game, connected } = this.status ?? {};
    let hurry = false;
    for (const side of SIDES) {
      const left = shown ? clock.left(shown, side) : null;
      const runs = shown?.running === side && connected && game?.ended === null;
      say(this.sides[side].clock, left === null ? "" : clock.text(left, runs && left > 0));
      this.sides[side].element.classList.toggle("runs", Boolean(runs));
      this.sides[side].element.classList.toggle("fallen", left === 0);
      hurry = hurry || (runs && left > 0 && clock.hurries(shown, side));
    }
    return hurry;
  }

  /** Shows a position. `marks` maps squares to CSS classes; `text` is the caption. */
  show(fen, { marks = new Map(), last = null, text = "" }) {
    this.edited = null;
    this.set(fen, marks, last);
    say(this.caption, text);
    const on = pieces(fen);
    say(this.spoken, fill(words.views.spoken, { text, white: list(on, "white"), black: list(on, "black") }));
  }

  /** Makes the pieces movable. `moved` is called with the origin and the destination of each move. */
  edit(fen, moved, text) {
    this.edited = moved;
    this.set(fen, new Map(), null);
    say(this.caption, text);
  }

  set(fen, marks, last) {
    const isEdited = Boolean(this.edited);
    const key = `${fen.split(" ")[0]} ${[...marks].join()} ${last} ${isEdited}`;
    if (key === this.shown && !isEdited) return;
    this.shown = key;
    const config = {
      fen: fen.split(" ")[0],
      lastMove: last ? [last.slice(0, 2), last.slice(2, 4)] : [],
      highlight: { custom: marks, lastMove: true },
      orientation: this.orientation,
      turnColor: undefined,
    };
    if (!this.ground || this.isEdited !== isEdited) this.make(isEdited);
    this.ground.set(config);
  }

  make(isEdited) {
    this.ground?.destroy();
    this.isEdited = isEdited;
    const board = make("div", "board");
    this.frame.replaceChildren(board);
    this.frame.classList.toggle("edited", isEdited);
    this.ground = Chessground(board, {
      viewOnly: !isEdited,
      coordinates: true,
      ranksPosition: "left",
      autoCastle: false,
      disableContextMenu: isEdited,
      drawable: { enabled: false, visible: false },
      animation: { enabled: !isCalm(), duration: 150 },
      premovable: { enabled: false },
      movable: {
        free: true,
        color: "both",
        rookCastle: false,
        events: { after: (from, to) => this.edited?.(from, to) },
      },
    });
  }

  /** Redraws the board after it was shown or resized. */
  fit() {
    this.ground?.redrawAll();
  }

  flip() {
    this.orientation = this.orientation === "white" ? "black" : "white";
    this.stage.classList.toggle("turned", this.orientation === "black");
    this.ground?.set({ orientation: this.orientation });
  }
}
