// The room: all tables and their health.

import * as clock from "/page/clock.js";
import { make, mark, say } from "/page/dom.js";
import { hallOf, tableName } from "/page/tables.js";
import { RANK, doubtful, isPlaying } from "./lines.js";
import { address } from "./list.js";
import { formatted } from "./round.js";
import { fill, names, numbered, place, result, words } from "./words.js";

const SIDES = ["white", "black"];
export const LOW_BATTERY = 20;
/** Time in milliseconds for which a player may hold a piece before the difference is reported. */
const MOVE = 10000;

/** Problems of a board, as a list of [severity, text], the gravest first. A severity is that of the board's line. */
export function health(status) {
  const wrong = [];
  const { battery, incidents, connected } = status;
  const isOpen = (wanted) => incidents.some(({ severity }) => severity === wanted);
  // A lost board has a chip of its own.
  const counts = ({ kind, severity }) => RANK[severity] < RANK.hint && (connected || kind !== "board_disconnected");
  const open = incidents.filter(counts).length;
  if (!connected) wrong.push(["advice", status.away ? words.health.away : words.health.gone]);
  if (open) wrong.push([isOpen("violation") ? "violation" : "advice", fill(words.health.open, { n: open })]);
  if (doubtful(status).length) wrong.push(["hint", words.health.doubtful]);
  if (connected && isPlaying(status) && !hasClock(status)) wrong.push(["hint", words.health.noClock]);
  if (battery !== null && battery <= LOW_BATTERY) wrong.push(["hint", fill(words.health.battery, { percent: battery })]);
  if (connected && isPlaying(status) && lasts(status)) {
    wrong.push(["hint", fill(words.health.differs, { n: status.differs.length })]);
  }
  return wrong.sort(([one], [other]) => RANK[one] - RANK[other]);
}

/** Whether board and game have differed for longer than a move takes. */
export function lasts({ differs_since: since }) {
  return since !== null && clock.now() - Date.parse(since) > MOVE;
}

function hasClock({ clock: shown }) {
  return Boolean(shown) && (shown.white_ms !== null || shown.black_ms !== null);
}

/**
 * Describes result and last move of the game of a table, with its round if that is over, and the last move of another
 * game on its board.
 */
function state(status, { seat, isOther, earlier }) {
  const { game } = status;
  const last = game?.moves.length ? numbered(game, game.moves.length) : "";
  if (!game || isOther) {
    const open = seat?.over ? words.kinds.missing : words.noGame;
    const ofRound = seat?.result ? formatted(seat) : open;
    return [ofRound, isOther && isPlaying(status) && last && fill(words.otherGame, { move: last })].filter(Boolean).join(" · ");
  }
  const reason = words.round.reasons[game.reason] ?? words.reasons[game.reason] ?? game.reason;
  const of = earlier === null ? null : fill(words.round.name, { round: earlier });
  return [of, result(game.result) || (game.ended && reason), last].filter(Boolean).join(" · ");
}

class Table {
  constructor() {
    this.place = make("span", "table");
    this.names = {};
    this.clocks = {};
    const players = SIDES.map((side) => {
      this.names[side] = make("span", "name");
      this.clocks[side] = make("span", "clock");
      return make("span", `side ${side}`, {}, make("span", "color"), this.names[side], this.clocks[side]);
    });
    this.last = make("span", "last");
    this.health = make("span", "health");
    const face = make("span", "face", { "aria-hidden": "true" }, this.place, make("span", "players", {}, ...players));
    face.append(make("span", "foot", {}, this.last, this.health));
    // Screen readers get one sentence, from the link that covers the table.
    this.link = make("a", "open");
    this.element = make("li", "", {}, make("div", "seat", {}, face, this.link));
  }

  /** Updates changed parts only. `seating` is the pairing of the table at which the board stands. */
  update(status, chosen, seating) {
    Object.assign(this, { status, chosen, seating, late: lasts(status) });
    const { table, board, isShared } = status;
    const { players, isOther } = seating;
    mark(this.link, "href", address(board));
    mark(this.link, "aria-current", chosen ? "true" : null);
    const isNumbered = table && !isShared;
    // The name of the hall distinguishes boards with the same table number.
    say(this.place, isNumbered ? tableName(table) : isShared ? `${table} ${board.split("/")[0]}` : board);
    this.place.classList.toggle("long", !isNumbered || hallOf(table) !== null);
    for (const side of SIDES) say(this.names[side], players?.[side] ?? words.nobody);
    say(this.last, state(status, seating));
    const wrong = health(status);
    const key = JSON.stringify(wrong);
    if (key !== this.shown) {
      this.shown = key;
      this.health.replaceChildren(...wrong.map(([how, what]) => make("span", `chip ${how}`, {}, what)));
    }
    const worst = wrong[0]?.[0] ?? "fine";
    if (this.element.className !== worst) this.element.className = worst;
    this.element.classList.toggle("over", !isPlaying(status) || isOther);
    const said = wrong.map(([, what]) => what).join(", ") || words.health.fine;
    mark(this.link, "aria-label", [place(status), names({ players }), state(status, seating), said].filter(Boolean).join(". "));
    return this.pass();
  }

  /** Updates the clocks; returns whether one shows tenths of a second. */
  pass() {
    if (lasts(this.status) !== this.late) return this.update(this.status, this.chosen, this.seating);
    const { clock: shown, game } = this.status;
    let hurry = false;
    for (const side of SIDES) {
      // A side is marked as running only in the game of the round.
      const runs = shown?.running === side && this.status.connected && game?.ended === null && !this.seating.isOther;
      const left = shown ? clock.left(shown, side) : null;
      say(this.clocks[side], left === null ? "" : clock.text(left, runs && left > 0));
      this.clocks[side].classList.toggle("runs", runs);
      this.clocks[side].classList.toggle("fallen", left === 0);
      hurry = hurry || (runs && left > 0 && clock.hurries(shown, side));
    }
    return hurry;
  }
}

/** Compares boards: by table number, then by name. */
export function order(one, other) {
  const [first, second] = [one.table ?? Infinity, other.table ?? Infinity];
  return first === second ? one.board.localeCompare(other.board, undefined, { numeric: true }) : first - second;
}

export class Room {
  /** `seated` returns the pairing of the table at which a board stands. */
  constructor(title, seated) {
    this.seated = seated;
    this.tables = new Map();
    this.title = make("h2", "", { id: "room" }, title);
    this.list = make("ul", "tables", { "aria-labelledby": "room" });
    this.element = make("section", "room", { "aria-labelledby": "room" }, this.title, this.list);
  }

  /** Shows all boards. `chosen` is the name of the opened one, or null. */
  update(boards, chosen) {
    for (const [board, table] of this.tables) {
      if (boards.has(board)) continue;
      table.element.remove();
      this.tables.delete(board);
    }
    [...boards.values()].sort(order).forEach((status, at) => {
      if (!this.tables.has(status.board)) this.tables.set(status.board, new Table());
      const table = this.tables.get(status.board);
      table.update(status, status.board === chosen, this.seated(status));
      if (this.list.children[at] !== table.element) this.list.insertBefore(table.element, this.list.children[at] ?? null);
    });
  }

  /** Updates one board. */
  change(status, chosen) {
    this.tables.get(status.board)?.update(status, status.board === chosen, this.seated(status));
  }

  /** Updates all tables after a change of the pairings or of a round. */
  pair() {
    for (const { status, chosen, element } of this.tables.values()) {
      if (element.isConnected) this.change(status, chosen ? status.board : null);
    }
  }

  /** Updates all clocks; returns whether one shows tenths of a second. */
  pass() {
    let hurry = false;
    for (const table of this.tables.values()) hurry = table.pass() || hurry;
    return hurry;
  }

  focus(board) {
    this.tables.get(board)?.link.focus();
  }
}

