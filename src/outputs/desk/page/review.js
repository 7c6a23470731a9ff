// View of one past game: moves, sensor data, explanations and incidents, step by step.

import { button, make, say } from "/page/dom.js";
import { Diagram } from "./diagram.js";
import { Explanation } from "./explain.js";
import { Throttle, isBehind, isOther } from "./follow.js";
import { gameAddress, outcome } from "./games.js";
import { Incidents } from "./incidents.js";
import { Moves } from "./moves.js";
import { after } from "./position.js";
import { Sensors } from "./sensors.js";
import { Versions } from "./versions.js";
import { edition, fill, language, locale, names, numbered, shownTime, time, words } from "./words.js";

function date(at) {
  return new Date(at).toLocaleDateString(locale, { day: "numeric", month: "long", year: "numeric" });
}

/** Delay in milliseconds after which the journal has new events. */
const SOON = 1500;
/** Minimum pause between playbacks of the recording, in milliseconds, to spare the daemon's computer. */
const LATER = 15000;
/** Maximum number of requests for events that the journal should have. */
const TRIES = 5;

export class Review {
  /**
   * `look` sends a request to the server; `announce` announces a text to screen readers; `live` returns the current
   * status of a game's board; `entries` creates the forms that change the game.
   */
  constructor(look, announce, live, entries) {
    Object.assign(this, { look, announce, live, entries, id: null });
    this.title = make("h2", "", { tabindex: "-1" });
    this.facts = make("p", "facts");
    this.state = make("p", "quiet", { role: "status" });
    const back = button("back", words.review.back, "←", () => (location.hash = "#/games"));
    const link = (text, attributes) => make("a", "get", attributes, text);
    this.report = link(words.review.report, { target: "_blank", rel: "noopener" });
    this.pgn = link(words.review.pgn, { download: "" });
    this.capture = link(words.review.capture, { download: "" });
    const gets = make("p", "gets", {}, this.report, this.pgn, this.capture);
    this.head = make("div", "opened-head review-head", {}, back, make("div", "", {}, this.title, this.facts), gets);
    this.element = make("section", "reviewed", { hidden: "" }, this.head, this.state);
  }

  close() {
    this.asked?.abort();
    this.asked = null;
    this.id = null;
    this.again?.stop();
    this.playback?.stop();
  }

  async open(id) {
    this.close();
    this.id = id;
    this.seen = this.live(id);
    this.tries = TRIES;
    this.again = new Throttle(() => this.reload(), SOON, 4);
    this.playback = new Throttle(() => this.replay(), LATER, 10);
    this.isOpening = true;
    const asked = (this.asked = new AbortController());
    this.parts?.remove();
    this.parts = null;
    say(this.title, id);
    say(this.facts, "");
    say(this.state, words.review.loading);
    this.report.href = `${gameAddress(id, "report")}?language=${language}`;
    this.pgn.href = gameAddress(id, "pgn");
    this.capture.href = gameAddress(id, "capture");
    this.capture.hidden = false;
    scrollTo(0, 0);
    this.title.focus({ preventScroll: true });
    const told = await this.look(gameAddress(id, ""), asked);
    if (!told || asked !== this.asked) return;
    this.isOpening = false;
    if (!told.ok) {
      say(this.state, words.review.refusals[told.answer.why] ?? fill(words.review.failed, { error: told.answer.error ?? "" }));
      return;
    }
    say(this.state, "");
    this.build(told.answer);
    await this.playback.now();
  }

  /** Requests a playback of the recording and shows its result. */
  async replay() {
    const { asked } = this;
    const watched = await this.look(gameAddress(this.id, "explain"), asked);
    if (watched && asked === this.asked) this.watch(watched);
  }

  /** Reloads the game after a change of its board. */
  follow() {
    const board = this.live(this.id);
    if (!isOther(board, this.seen)) return;
    this.seen = board;
    this.tries = TRIES;
    this.again.call();
  }

  /** Reloads the game. If that fails, the view stays as it is. */
  async reload() {
    const { asked } = this;
    if (this.isOpening) this.again.call();
    if (!this.parts) return;
    const told = await this.look(gameAddress(this.id, ""), asked);
    if (!told || asked !== this.asked) return;
    const isWhole = told.ok && !(this.seen && isBehind(told.answer.record, this.seen.game));
    if (!isWhole && (this.tries -= 1) > 0) this.again.call();
    if (!told.ok) return;
    this.update(told.answer);
    this.playback.call();
  }

  /** Updates the game. A view of the last move follows new moves; other views stay at their move. */
  update(told) {
    const { ply, at, game: before } = this;
    const wasLast = at === null && ply === before.moves.length;
    const wasAt = before.moves[ply - 1]?.uci;
    this.tell(told);
    // Moves may have been withdrawn.
    this.ply = Math.min(ply, this.game.moves.length);
    this.moves.update(this.game);
    this.explanation.update(this.game);
    this.sensors.update(this.game);
    this.happen();
    this.entry?.update(this.game);
    if (this.incidents.pointed) this.showBeside();
    else if (wasLast) this.go(Infinity, this.game.moves.length !== ply || this.game.moves.at(-1)?.uci !== wasAt);
    else if (at === null) this.go(ply, this.game.moves[ply - 1]?.uci !== wasAt);
    else this.show();
  }

  /** Sets the data from the journal and updates the heading. */
  tell(told) {
    const game = told.record;
    this.game = game;
    this.told = told;
    say(this.title, names(game) || this.id);
    const { players, round, started, board, laws } = game;
    const facts = [
      outcome(game),
      `${date(started)}, ${time(started)}`,
      (players?.round ?? round) && fill(words.review.round, { round: players?.round ?? round }),
      players?.table && `${words.table} ${players.table}`,
      board,
      game.time_control_typed ?? game.time_control,
      laws && edition(laws),
    ];
    say(this.facts, facts.filter(Boolean).join(" · "));
  }

  /** Updates incidents, corrections and commands. Unchanged parts stay opened or closed. */
  happen() {
    const { incidents, offences, corrections, amendments, notes, record } = this.told;
    const about = JSON.stringify([incidents, offences]);
    if (about !== this.incidents.about) this.incidents.update(this.told);
    this.incidents.about = about;
    const { ended, result, reason, by, confirmed } = record;
    const entered = JSON.stringify([incidents, corrections, amendments, notes, ended, result, reason, by, confirmed]);
    if (entered === this.versions?.about) return;
    const next = new Versions(this.told);
    next.about = entered;
    this.versions?.element.replaceWith(next.element);
    this.versions = next;
  }

  /** Creates all parts from the data in the journal. */
  build(told) {
    this.watched = null;
    this.incidents = new Incidents((shown) => this.showEvidence(shown));
    this.versions = null;
    this.tell(told);
    const { game } = this;
    this.diagram = new Diagram();
    this.moves = new Moves((ply) => this.go(ply));
    this.moves.update(game);
    this.explanation = new Explanation(game);
    this.sensors = new Sensors(game, (at) => this.goMoment(at));
    this.happen();
    this.legend = make("p", "small legend");
    const stage = make("div", "review-stage", {}, this.diagram.element, this.legend, this.moves.keys);
    const played = make("div", "column", {}, this.moves.element, this.explanation.element, this.sensors.element);
    this.entry = this.entries.ofGame(game);
    this.entry?.update(game);
    const happened = make("div", "column", {}, this.incidents.element, this.versions.element);
    if (this.entry) happened.append(this.entry.element);
    this.parts = make("div", "review-parts", {}, stage, played, happened);
    this.element.append(this.parts);
    this.go(0, false);
    this.diagram.fit();
  }

  /** Sets the result of a playback. A failed playback does not replace an earlier result. */
  watch({ ok, answer }) {
    if (!ok && this.watched) return;
    const moment = this.at === null ? null : this.sensors.moments[this.at].at;
    this.watched = ok ? answer : null;
    const why = ok ? null : words.review.refusals[answer.why] ?? fill(words.review.failed, { error: answer.error ?? "" });
    const isGone = !ok && answer.why !== "not_shown";
    this.capture.hidden = isGone;
    this.explanation.watch(this.watched, why);
    this.sensors.watch(this.watched, why);
    const at = this.sensors.moments.findIndex((one) => one.at === moment);
    if (this.incidents.pointed) this.showBeside();
    else if (at < 0) this.go(this.ply, false);
    else {
      this.at = at;
      this.ply = Math.min(this.sensors.moments[at].ply, this.game.moves.length);
      this.show();
    }
  }

  /** Shows the position after a ply. */
  go(ply, isTold = true) {
    this.ply = Math.max(0, Math.min(ply, this.game.moves.length));
    this.at = null;
    this.show();
    if (isTold) this.announce(this.spoken());
  }

  /** Shows a moment, given by its index in the game. */
  goMoment(at) {
    const { moments } = this.sensors;
    if (!moments.length) return;
    this.at = Math.max(0, Math.min(at, moments.length - 1));
    this.ply = Math.min(moments[this.at].ply, this.game.moves.length);
    this.show();
    this.announce(this.sensors.text(this.at));
  }

  /** Moves by one moment forward or back from the current position. */
  step(by) {
    if (this.at !== null) this.goMoment(this.at + by);
    else if (by > 0) this.goMoment(this.sensors.first(this.ply));
    else this.goMoment(this.sensors.first(this.ply) - 1);
  }

  spoken() {
    const played = this.game.moves[this.ply - 1];
    if (!played) return words.views.startText;
    const left = played.clock?.[`${played.color}_ms`];
    const name = fill(words.views.plyText, { move: numbered(this.game, this.ply) });
    return left === undefined || left === null ? name : fill(words.review.spoken, { name, time: shownTime(left) });
  }

  show() {
    const { game, ply } = this;
    const clock = this.at === null ? game.moves[ply - 1]?.clock : this.sensors.clock(this.at);
    this.diagram.update({ game, connected: false, clock: clock ? { ...clock, running: null, as_of: null } : null });
    if (this.at === null) {
      const text = ply ? fill(words.views.plyText, { move: numbered(game, ply) }) : words.views.startText;
      const marks = this.explanation.marks(ply);
      this.diagram.show(after(game, ply), { last: game.moves[ply - 1]?.uci, marks, text });
      say(this.legend, marks.size ? words.review.legend : "");
    } else {
      const { placement, squares } = this.sensors.moments[this.at];
      const marks = new Map(squares.map((square) => [square, "concerned"]));
      this.diagram.show(placement, { marks, text: this.sensors.text(this.at) });
      say(this.legend, "");
    }
    this.showBeside();
    this.incidents.rest();
  }

  /** Shows the data of the current ply beside the diagram. */
  showBeside() {
    this.moves.point(this.ply);
    this.explanation.show(this.ply);
    this.sensors.show(this.ply, this.at);
  }

  /** Shows the evidence of an incident on the diagram. */
  showEvidence({ placement, marks, text }) {
    this.diagram.show(placement, { marks, text });
    say(this.legend, "");
  }

  /** Handles a key; returns whether it has a function here. */
  press(name) {
    const back = () => (location.hash = "#/games");
    if (name === "Escape") {
      back();
      return true;
    }
    if (!this.parts?.isConnected) return false;
    const acts = {
      ArrowLeft: () => this.go(this.ply - 1),
      ArrowRight: () => this.go(this.ply + 1),
      Home: () => this.go(0),
      End: () => this.go(Infinity),
      j: () => this.step(1),
      k: () => this.step(-1),
      f: () => this.diagram.flip(),
    };
    acts[name]?.();
    return name in acts;
  }
}
