// Reports of the board and its clock from the recording, moment by moment.

import { button, make, mark, say } from "/page/dom.js";
import { told } from "./evidence.js";
import { START_FEN, pieces, placement } from "./position.js";
import { fill, numbered, shownTime, time, words } from "./words.js";

/** Number of simultaneous changes from which squares are counted and not named. */
const MANY = 5;

/** Describes a clock reading. */
function clockText({ white_ms: white, black_ms: black, running, flag }) {
  if (white === null) return words.review.clockNone;
  const runs = running ? fill(words.review.runs, { color: words[running] }) : words.review.stands;
  const fallen = flag ? ` · ${words.review.flag}` : "";
  return fill(words.review.clock, { white: shownTime(white), black: shownTime(black), runs }) + fallen;
}

/** All moments, each with the placement after it. */
function follow({ placement: before, moments }) {
  const on = pieces(before ?? START_FEN);
  let clock = null;
  return moments.map((moment) => {
    const squares = moment.changes.map(({ square }) => square);
    const texts = moment.changes.map(({ square, piece }) => {
      const was = on.get(square) ?? null;
      if (piece === null) on.delete(square);
      else on.set(square, piece);
      return told({ square, piece, was });
    });
    const said = texts.length >= MANY ? [fill(words.review.many, { n: texts.length })] : texts;
    if (moment.clock) {
      clock = moment.clock;
      said.push(clockText(clock));
    }
    if (moment.line) said.push(words.review.lines[moment.line] ?? moment.line);
    return { at: moment.at, ply: moment.ply, squares, said, clock, placement: placement(on) };
  });
}

export class Sensors {
  /** `go` is called with the index of the moment to show on the diagram. */
  constructor(game, go) {
    Object.assign(this, { game, go, moments: [] });
    this.about = make("p", "small");
    this.state = make("p", "quiet", {}, words.review.reading);
    this.list = make("ol", "moments", { "aria-label": words.review.sensors, tabindex: "0" });
    this.list.addEventListener("click", (event) => {
      const at = event.target.closest("[data-at]")?.dataset.at;
      if (at) go(Number(at));
    });
    this.keys = make(
      "div",
      "keys",
      {},
      button("", words.moments.back, "←", () => go((this.at ?? this.first(this.ply)) - 1)),
      button("", words.moments.on, "→", () => go(this.at === null ? this.first(this.ply) : this.at + 1)),
    );
    this.keys.hidden = this.list.hidden = true;
    this.element = make("section", "part sensors", {}, make("h3", "", {}, words.review.sensors), this.about, this.state, this.list, this.keys);
  }

  /** Updates the game. The recording of the new moves was not played back yet. */
  update(game) {
    this.game = game;
    this.isOld = true;
    this.shown = undefined;
  }

  /** Sets the result of the playback; without a recording, `why` is the reason. */
  watch(watched, why) {
    this.isOld = false;
    this.moments = watched ? follow(watched) : [];
    this.why = why ?? (watched?.cut ? words.review.cut : "");
    this.isWatched = Boolean(watched);
    this.shown = undefined;
  }

  /** Index of the first moment of a ply or a later one. */
  first(ply) {
    const at = this.moments.findIndex((moment) => moment.ply >= ply);
    return at < 0 ? this.moments.length : at;
  }

  text(at) {
    const { at: when, said } = this.moments[at];
    return fill(words.views.momentText, { at: time(when, true), what: said.join("; ") });
  }

  clock(at) {
    return this.moments[at].clock;
  }

  /** Shows the moments of a ply. `at` is the index of the moment on the diagram, or null. */
  show(ply, at) {
    this.ply = ply;
    this.at = at;
    const name = ply ? fill(words.review.sensorsOf, { move: numbered(this.game, ply) }) : words.review.sensorsBefore;
    say(this.about, name);
    if (this.shown !== ply) this.write(ply);
    for (const one of this.list.querySelectorAll("button")) {
      const isNow = Number(one.dataset.at) === at;
      one.classList.toggle("now", isNow);
      mark(one, "aria-current", isNow ? "true" : null);
      if (isNow) this.list.scrollTop = one.parentElement.offsetTop - this.list.clientHeight / 2;
    }
  }

  write(ply) {
    if (this.isWatched === undefined) return;
    this.shown = ply;
    const own = this.moments.map((moment, at) => [moment, at]).filter(([moment]) => moment.ply === ply);
    const text = JSON.stringify(own);
    if (text !== this.written) this.fill(own);
    this.written = text;
    this.list.hidden = own.length === 0;
    this.keys.hidden = this.moments.length === 0;
    const none = this.isOld ? words.review.reading : words.review.noMoments;
    say(this.state, [this.why, own.length || !this.isWatched ? "" : none].filter(Boolean).join(" "));
    this.state.hidden = this.state.textContent === "";
  }

  fill(own) {
    const isInList = this.list.contains(document.activeElement);
    this.list.replaceChildren(
      ...own.map(([{ at: when, said }, at]) => {
        const stamp = make("span", "times", {}, time(when, true));
        const texts = said.map((text) => make("span", "", {}, text));
        return make("li", "", {}, make("button", "moment", { type: "button", "data-at": at, tabindex: "-1" }, stamp, ...texts));
      }),
    );
    this.list.scrollTop = 0;
    if (isInList) this.list.focus({ preventScroll: true });
  }
}
