// What a move rests on, as a picture: the squares that spoke for it, the readings that were weighed, and by how much the
// one that was published was ahead.

import { draw, make, say } from "/page/dom.js";
import { told } from "./evidence.js";
import { fill, move, numberOf, numbered, time, words } from "./words.js";

/** A bar has room for so many squares; what is against a reading beyond that is a number. */
const ROOM = 12;
const MOST = 8;

/** As many blocks as squares are against a reading. */
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

/** What decided a reading, in a sentence. */
function decided({ grounds, caution, stood_ms: stood, inferred }, color) {
  const { why } = words.review;
  const other = color === "white" ? "black" : "white";
  if (grounds === "stood") return fill(why.stood, { time: seconds(stood), enough: why.cautions[caution] ?? "" });
  if (grounds === "press") return fill(why.press, { color: words[color] });
  if (grounds === "reply") return fill(why.reply, { color: words[other] });
  if (grounds === "only_line") return why.onlyLine;
  return inferred ? why.inferred : why.entered;
}

/** By how much the published reading is ahead of the best of the others. */
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

  /** The game goes on: what the recording has of that is not known yet. */
  update(game) {
    this.game = game;
    this.isOld = true;
    this.shown = undefined;
  }

  /** Takes in what the recording gives; where there is none, `why`. */
  watch(watched, why) {
    this.why = why ?? "";
    this.isOld = false;
    this.readings = new Map();
    for (const reading of watched?.readings ?? []) if (!reading.withdrawn) this.readings.set(reading.ply, reading);
    this.isWatched = true;
    this.shown = undefined;
  }

  /** What the recording gives for a ply, where that is the move that was played. */
  reading(ply) {
    const reading = this.readings.get(ply);
    const played = this.game.moves[ply - 1];
    return reading && played && reading.uci === played.uci ? reading : null;
  }

  /** The squares of a ply that are to be marked. */
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

  /** Why there is nothing to be said. */
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
