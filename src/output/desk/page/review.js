// One past game, to be stepped through: its moves, what the sensors said, what each move rests on, and what happened.

import { button, make, say } from "/page/dom.js";
import { Diagram } from "./diagram.js";
import { Explanation } from "./explain.js";
import { gameAddress, outcome } from "./games.js";
import { Incidents } from "./incidents.js";
import { Moves } from "./moves.js";
import { after } from "./position.js";
import { Sensors } from "./sensors.js";
import { Versions } from "./versions.js";
import { edition, fill, language, names, numbered, shownTime, time, words } from "./words.js";

function date(at) {
  return new Date(at).toLocaleDateString(language, { day: "numeric", month: "long", year: "numeric" });
}

export class Review {
  /** `look` asks the server; `say` is read aloud. */
  constructor(look, announce) {
    Object.assign(this, { look, announce, id: null });
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
  }

  async open(id) {
    this.close();
    this.id = id;
    const asked = (this.asked = new AbortController());
    this.parts?.remove();
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
    if (!told.ok) {
      say(this.state, words.review.refusals[told.answer.why] ?? fill(words.review.failed, { error: told.answer.error ?? "" }));
      return;
    }
    say(this.state, "");
    this.build(told.answer);
    const watched = await this.look(gameAddress(id, "explain"), asked);
    if (!watched || asked !== this.asked) return;
    this.watch(watched);
  }

  /** Makes all parts, of what the journal has. */
  build(told) {
    const game = told.record;
    this.game = game;
    this.told = told;
    this.watched = null;
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
    this.diagram = new Diagram();
    this.moves = new Moves((ply) => this.go(ply));
    this.moves.update(game);
    this.explanation = new Explanation(game);
    this.sensors = new Sensors(game, (at) => this.goMoment(at));
    this.incidents = new Incidents(told, (shown) => this.showEvidence(shown));
    this.versions = new Versions(told);
    this.legend = make("p", "small legend");
    const stage = make("div", "review-stage", {}, this.diagram.element, this.legend, this.moves.keys);
    const played = make("div", "column", {}, this.moves.element, this.explanation.element, this.sensors.element);
    const happened = make("div", "column", {}, this.incidents.element, this.versions.element);
    this.parts = make("div", "review-parts", {}, stage, played, happened);
    this.element.append(this.parts);
    this.go(0, false);
    this.diagram.fit();
  }

  /** Takes in what the recording gives. */
  watch({ ok, answer }) {
    this.watched = ok ? answer : null;
    const why = ok ? null : words.review.refusals[answer.why] ?? fill(words.review.failed, { error: answer.error ?? "" });
    const isGone = !ok && answer.why !== "not_shown";
    this.capture.hidden = isGone;
    this.explanation.watch(this.watched, why);
    this.sensors.watch(this.watched, why);
    this.go(this.ply, false);
  }

  /** Shows the position after a ply. */
  go(ply, isTold = true) {
    this.ply = Math.max(0, Math.min(ply, this.game.moves.length));
    this.at = null;
    this.show();
    if (isTold) this.announce(this.spoken());
  }

  /** Shows a moment: its number among all of the game. */
  goMoment(at) {
    const { moments } = this.sensors;
    if (!moments.length) return;
    this.at = Math.max(0, Math.min(at, moments.length - 1));
    this.ply = Math.min(moments[this.at].ply, this.game.moves.length);
    this.show();
    this.announce(this.sensors.text(this.at));
  }

  /** One moment on or back, from where the game is looked at. */
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
    this.moves.point(ply);
    this.explanation.show(ply);
    this.sensors.show(ply, this.at);
    this.incidents.rest();
  }

  /** Shows what an incident rests on: {placement, marks, text}. */
  showEvidence({ placement, marks, text }) {
    this.diagram.show(placement, { marks, text });
    say(this.legend, "");
  }

  /** Takes a key; returns whether it meant something. */
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
