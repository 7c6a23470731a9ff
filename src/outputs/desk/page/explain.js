// Explains a move: the changes of squares behind it, the lines of play that were compared, and the margin of the
// published one.

import { draw, make, say } from "/page/dom.js";
import { told } from "./evidence.js";
import { fill, move, numberOf, numbered, time, words } from "./words.js";

/** Maximum number of blocks in a bar. The exact number is written beside it. */
const ROOM = 12;
const MOST = 8;

/** Draws a bar with a block for each square that contradicts a line. */
function blocks(count, isOurs) {
  const shown = Math.min(count, ROOM);
  const all = Array.from({ length: ROOM }, (_, at) =>
    draw("rect", { x: String(at * 10 + 1), y: "1", width: "8", height: "8", class: at < shown ? "against" : "room" }),
  );
  const end = count > ROOM ? [draw("path", { d: `M${ROOM * 10 - 8} 2l4 3-4 3`, class: "beyond" })] : [];
  const attributes = { class: isOurs ? "blocks ours" : "blocks", viewBox: `0 0 ${ROOM * 10} 10`, "aria-hidden": "true" };
  return draw("svg", attributes, ...all, ...end);
}

function seconds(ms) {
  return `${(ms / 1000).toFixed(1)} ${words.units.s}`;
}

/** Describes the reason for publishing a move. */
function decided({ grounds, caution, stood_ms: stood, inferred }, color) {
  const { why } = words.review;
  const other = color === "white" ? "black" : "white";
  if (grounds === "stood") return fill(why.stood, { time: seconds(stood), enough: why.cautions[caution] ?? "" });
  if (grounds === "press") return fill(why.press, { color: words[color] });
  if (grounds === "reply") return fill(why.reply, { color: words[other] });
  if (grounds === "only_line") return why.onlyLine;
  return inferred ? why.inferred : why.entered;
}

/** Describes the margin of the published line over the best other one. */
function margin(reading) {
  const { why } = words.review;
  const [best] = [...reading.others].sort((one, other) => one.differs - other.differs || one.withdraws - other.withdraws);
  if (!best) return why.alone;
  const squares = best.differs - reading.differs.length;
  if (squares < 0) return why.behind;
  if (squares > 0) return squares === 1 ? why.bySquare : fill(why.bySquares, { n: squares });
  if (best.withdraws > 0) return best.withdraws === 1 ? why.byMove : fill(why.byMoves, { n: best.withdraws });
  return why.byTime;
}

export class Explanation {
  constructor(game) {
    this.game = game;
    this.heading = make("h3", "", {});
    this.state = make("p", "quiet", {}, words.review.reading);
    this.sentence = make("p", "");
    this.margin = make("p", "ahead");
    const region = { role: "region", "aria-label": words.review.why.weighed, tabindex: "0" };
    this.table = make("div", "weighed", region);
    this.changes = make("p", "small");
    this.element = make("section", "part explained", {}, this.heading, this.state, this.sentence, this.margin, this.table, this.changes);
    this.readings = new Map();
  }

  /** Updates the game. The recording of the new moves was not played back yet. */
  update(game) {
    this.game = game;
    this.isOld = true;
    this.shown = undefined;
  }

  /** Sets the result of the playback; without a recording, `why` is the reason. */
  watch(watched, why) {
    this.why = why ?? "";
    this.isOld = false;
    this.readings = new Map();
    for (const reading of watched?.readings ?? []) if (!reading.withdrawn) this.readings.set(reading.ply, reading);
    this.isWatched = true;
    this.shown = undefined;
  }

  /** Explanation of a ply; null unless the playback found the move that the game has. */
  reading(ply) {
    const reading = this.readings.get(ply);
    const played = this.game.moves[ply - 1];
    return reading && played && reading.uci === played.uci ? reading : null;
  }

  /** Squares to mark for a ply, with their CSS classes. */
  marks(ply) {
    const reading = this.reading(ply);
    if (!reading) return new Map();
    const spoke = reading.changes.map(({ square }) => [square, "spoke"]);
    return new Map([...spoke, ...reading.differs.map((square) => [square, "differs"])]);
  }

  show(ply) {
    if (this.shown === ply) return;
    const name = ply ? fill(words.review.why.title, { move: numbered(this.game, ply) }) : words.review.why.titleNone;
    say(this.heading, name);
    if (!this.isWatched) return;
    this.shown = ply;
    const reading = this.reading(ply);
    for (const one of [this.sentence, this.margin, this.table, this.changes]) one.hidden = !reading;
    say(this.state, reading ? "" : this.missing(ply));
    this.state.hidden = Boolean(reading);
    if (reading) this.draw(ply, reading);
  }

  /** Reason why there is no explanation. */
  missing(ply) {
    const { why } = words.review;
    if (this.why) return this.why;
    if (!ply) return why.start;
    const other = this.readings.get(ply);
    if (this.game.moves[ply - 1].settled === "arbiter") return why.entered;
    if (this.isOld) return words.review.reading;
    return other ? fill(why.other, { move: this.name(other.ply, other.san ?? other.uci) }) : why.missing;
  }

  name(ply, text) {
    return `${numberOf(this.game, ply)} ${move(text ?? "–")}`;
  }

  draw(ply, reading) {
    const { why } = words.review;
    const { color } = this.game.moves[ply - 1];
    say(this.sentence, decided(reading, color));
    say(this.margin, margin(reading));
    const spoke = reading.changes.map((change) => `${time(change.at, true)} ${told({ ...change, was: null })}`);
    say(this.changes, spoke.length ? fill(why.spoke, { changes: spoke.join(" · ") }) : why.nothingSpoke);
    const cell = (tag, text, attributes = {}) => make(tag, "", attributes, text);
    const head = make("tr", "", {}, ...[why.reading, why.against, why.withdraws, why.stands].map((text) => cell("th", text, { scope: "col" })));
    const stood = reading.stood_ms ?? Math.max(0, Date.parse(reading.at) - Date.parse(reading.stood_at));
    const rows = [
      { name: this.name(ply, reading.san ?? reading.uci), differs: reading.differs.length, withdraws: "–", stood_ms: stood, isOurs: true },
      ...reading.others.slice(0, MOST).map((other) => ({
        ...other,
        name: other.name === null ? why.noMove : this.name(other.ply, other.name),
        stood_ms: other.name === null ? null : other.stood_ms,
      })),
    ];
    const written = rows.map(({ name, differs, withdraws, stood_ms: time, isOurs }) => {
      const first = make("th", "", { scope: "row" }, name, isOurs ? make("span", "small", {}, ` ${why.published}`) : "");
      const bar = make("td", "bar", {}, blocks(differs, isOurs), make("span", "", {}, String(differs)));
      return make("tr", isOurs ? "ours" : "", {}, first, bar, cell("td", String(withdraws)), cell("td", time === null ? "–" : seconds(time)));
    });
    const left = reading.others.length - MOST;
    const caption = make("caption", "", {}, left > 0 ? `${why.weighed} ${fill(why.more, { n: left })}` : why.weighed);
    this.table.replaceChildren(make("table", "", {}, caption, make("thead", "", {}, head), make("tbody", "", {}, ...written)));
  }
}
