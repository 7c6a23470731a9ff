// Correcting moves by moving the pieces on the diagram.

import { button, make, say } from "/page/dom.js";
import { Deed, field } from "./deed.js";
import { after, isPromotion, play, uci } from "./position.js";
import { fill, move, numbered, numberOf, words } from "./words.js";

const is960 = (game) => game.variant === "chess960" || game.variant === "wrong_start";

/** The moves of a game from a ply on, in UCI; null if one of them is irregular and cannot be entered again. */
export function tail(game, from) {
  const moves = game.moves.slice(from - 1).map((one) => (one.legal ? one.uci : null));
  return moves.includes(null) ? null : moves;
}

/**
 * Returns a function that creates the command to undo a correction: it restores the moves that the game has now from
 * the ply `from` on, after `sent` other moves were entered there. It also keeps moves played since; the server refuses
 * them if they are not legal after the restored ones. Null if the moves cannot be entered again.
 */
export function asItWas(context, from, sent = 0) {
  const { game } = context.status;
  const moves = tail(game, from);
  return (
    moves &&
    (() => {
      const now = context.status.game;
      const since = (now?.game === game.game && tail(now, from + sent)) || [];
      return { do: "correct_moves", moves: [...moves, ...since], from, game: game.game };
    })
  );
}

export class Correct {
  /** `ended` is called when the correction is over and other views may use the diagram. */
  constructor(context, diagram, ended) {
    Object.assign(this, { context, diagram, ended, game: null, entered: [] });
    this.title = make("h3", "", { tabindex: "-1" }, words.correct.title);
    this.from = make("select", "", {});
    this.from.addEventListener("change", () => this.begin(Number(this.from.value)));
    this.entries = make("p", "entered", { "aria-live": "polite" });
    this.typed = make("input", "", { autocapitalize: "none", autocomplete: "off", spellcheck: "false" });
    this.stays = make("input", "", { type: "checkbox" });
    this.later = make("span", "");
    this.keep = make("label", "keep", {}, this.stays, " ", this.later);
    this.pieces = make("p", "promote", { hidden: "" });
    this.deed = new Deed(context, {
      label: words.correct.send,
      tone: "main",
      command: () => this.command(),
      ask: () => fill(words.correct.ask, { move: this.name(this.at) }),
      undo: (command) => asItWas(context, this.at, command.moves.length),
      done: () => this.stop(),
    });
    const back = button("", words.correct.back, words.correct.back, () => this.back());
    const cancel = button("", words.correct.cancel, words.correct.cancel, () => this.stop());
    this.element = make("section", "correct", { hidden: "" }, this.title, make("p", "quiet", {}, words.correct.how));
    this.element.append(
      field(words.correct.begin, this.from),
      this.pieces,
      this.entries,
      field(words.correct.typed, this.typed, words.correct.typedHelp),
      this.keep,
      make("p", "buttons", {}, back, cancel),
      this.deed.element,
    );
  }

  get isOn() {
    return this.game !== null;
  }

  /** Name of a ply: the move with its number, or only the number if there is no move yet. */
  name(ply) {
    return this.game.moves[ply - 1] ? numbered(this.game, ply) : numberOf(this.game, ply);
  }

  /** Begins a correction at a ply of this game. */
  start(game, ply) {
    this.game = game;
    this.element.hidden = false;
    const options = [];
    for (let one = 1; one <= game.moves.length + 1; one += 1) {
      options.push(make("option", "", { value: one }, fill(words.correct.from, { move: this.name(one) })));
    }
    this.from.replaceChildren(...options);
    this.deed.stop();
    this.deed.answer.hidden = true;
    this.begin(ply);
    this.title.focus();
  }

  begin(ply) {
    this.at = ply;
    this.entered = [];
    this.from.value = String(ply);
    this.stays.checked = true;
    this.typed.value = "";
    this.draw();
  }

  /** The position after the entered moves. */
  position() {
    const begun = after(this.game, this.at - 1);
    return this.entered.reduce((fen, one) => play(fen, one, is960(this.game)), begun);
  }

  draw() {
    this.pieces.hidden = true;
    const { game } = this;
    const shown = this.entered.length ? this.entered.join(" ") : words.correct.none;
    say(this.entries, fill(words.correct.entered, { moves: shown }));
    const later = this.rest();
    this.keep.hidden = !later?.length;
    if (later?.length) {
      const first = this.at + this.entered.length;
      const names = game.moves.slice(first - 1, first + 2).map(({ san, uci: squares }) => (san ? move(san) : squares));
      const moves = `${numberOf(game, first)} ${names.join(" ")}${later.length > 3 ? " …" : ""}`;
      say(this.later, fill(words.correct.keep, { moves }));
    }
    const text = fill(words.correct.from, { move: this.name(this.at) });
    this.diagram.edit(this.position(), (from, to) => this.moved(from, to), `${words.correct.title}: ${text}`);
  }

  /** The game's moves after those that the entered moves replace; null if they cannot be entered again. */
  rest() {
    const typed = this.typed.value.trim().split(/\s+/).filter(Boolean).length;
    return tail(this.game, this.at + this.entered.length + typed);
  }

  moved(from, to) {
    const fen = this.position();
    if (!isPromotion(fen, from, to)) {
      this.enter(uci(fen, from, to, is960(this.game)));
      return;
    }
    const choices = [..."qrbn"].map((letter) =>
      button("", words.pieces[letter], words.pieces[letter], () => this.enter(`${from}${to}${letter}`)),
    );
    this.pieces.replaceChildren(make("span", "", {}, words.correct.promote), ...choices);
    this.pieces.hidden = false;
    choices[0].focus();
  }

  enter(one) {
    this.entered.push(one);
    this.draw();
  }

  back() {
    this.entered.pop();
    this.draw();
  }

  command() {
    const typed = this.typed.value.trim().split(/\s+/).filter(Boolean);
    const moves = [...this.entered, ...typed];
    if (!moves.length) {
      this.deed.tell(words.correct.empty, "bad");
      return null;
    }
    const later = this.stays.checked ? this.rest() : null;
    return { do: "correct_moves", moves: [...moves, ...(later ?? [])], from: this.at, game: this.game.game };
  }

  /** Updates the game. Ends the correction if this is another game, or if moves before the corrected ones changed. */
  update(game) {
    if (!this.isOn) return;
    const before = (one) => JSON.stringify([one?.game, one?.moves.slice(0, this.at - 1).map(({ uci: squares }) => squares)]);
    if (before(game) !== before(this.game)) {
      this.stop();
      this.context.say(words.correct.gone);
      return;
    }
    this.game = game;
  }

  stop() {
    if (!this.isOn) return;
    this.game = null;
    this.element.hidden = true;
    this.ended();
  }
}
