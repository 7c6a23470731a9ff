// View of one opened board: diagram, incidents, moves, and commands.

import { button, make, mark, say } from "/page/dom.js";
import { Correct } from "./correct.js";
import { told } from "./deed.js";
import { Diagram } from "./diagram.js";
import { Evidence, differing, told as toldMoment } from "./evidence.js";
import { entering } from "./game.js";
import { attend } from "./going.js";
import { toHall } from "./halls.js";
import { judging } from "./judge.js";
import { isPlaying } from "./lines.js";
import { address, sign } from "./list.js";
import { Moves } from "./moves.js";
import { Past } from "./past.js";
import { after } from "./position.js";
import { health } from "./room.js";
import { seated } from "./round.js";
import { may } from "./session.js";
import { standing } from "./standing.js";
import { ending, fill, names, numbered, place, time, titleOf, words } from "./words.js";

const RANK = ["violation", "advice", "hint", "info"];

/** Compares incidents: one that ends the game comes first, then the graver one. */
function order(one, other) {
  const rank = (incident) => (ending(incident) ? -1 : RANK.indexOf(incident.severity));
  return rank(one) - rank(other);
}

export class Board {
  /** `say` announces a text to screen readers; `back` returns to the list. */
  constructor(session, source, { say: announce, back }) {
    Object.assign(this, { session, source, back });
    this.context = {
      status: null,
      isHub: session.hub === true,
      user: session.user,
      attend: (line, isGoing) => attend(source, line, isGoing),
      may: (command) => may(session, command),
      say: announce,
      view: (mode) => this.view(mode),
      send: (command) => source.command(this.context.status.board, command),
      did: (job) => {
        this.past.add(job);
        announce(`${job.label}. ${told(job.answer)}`);
      },
    };
    this.build();
  }

  build() {
    this.title = make("h2", "", { tabindex: "-1" });
    this.names = make("p", "names");
    this.health = make("p", "health");
    const back = button("back", words.opened.back, "←", () => this.back());
    this.hall = make("p", "facts");
    this.remarks = make("ul", "remarks", { "aria-label": words.opened.remarks, hidden: "" });
    const who = make("div", "", {}, this.title, this.names);
    this.head = make("div", "opened-head", {}, back, who, this.health, this.hall, this.remarks);
    this.others = make("nav", "others", { "aria-label": words.opened.several });
    this.diagram = new Diagram();
    this.views = {};
    const views = make("div", "views", { role: "group", "aria-label": words.views.label });
    for (const name of ["now", "game", "before"]) {
      this.views[name] = button("", words.views[name], words.views[name], () => this.view(name));
      views.append(this.views[name]);
    }
    this.beside = make("div", "");
    this.stage = make("div", "stage-of", {}, views, this.diagram.element, this.beside);
    this.case = make("div", "case-of");
    this.rest = make("div", "rest-of");
    this.record = make("div", "record-of");
    this.element = make("section", "opened", {}, this.head, this.others, this.case, this.stage, this.rest, this.record);
    this.element.setAttribute("aria-label", words.board);
  }

  /** Opens a board with the incident `number`, or with its gravest open incident if `number` is null. */
  open(status, number) {
    this.board = status.board;
    this.number = number;
    this.context.status = status;
    this.evidence = null;
    this.judge = null;
    this.past = new Past(this.context);
    this.moves = new Moves((ply) => this.view("ply", ply));
    this.correct = new Correct(this.context, this.diagram, () => this.show());
    this.enter = entering(this.context, () => this.shownPly(), () => this.startCorrection());
    this.case.replaceChildren();
    this.beside.replaceChildren();
    this.rest.replaceChildren(this.correct.element, this.enter.element);
    this.record.replaceChildren(this.moves.element, this.past.element);
    this.mode = "now";
    this.at = null;
    this.followed = true;
    this.update(status);
  }

  /** Shows at a hub a link to the same board at the desk of its hall, which has its past games and its tests. */
  showHall({ board, hall }) {
    const key = JSON.stringify([board, hall]);
    if (key === this.shownHall) return;
    this.shownHall = key;
    this.hall.hidden = !hall;
    const own = encodeURIComponent(board.split("/").at(-1));
    this.hall.replaceChildren(...(hall ? [toHall(hall, `#/board/${own}`, words.inHalls.board)] : []));
  }

  /** Selects another incident of the same board. */
  choose(number) {
    if (this.number === number) return;
    this.number = number;
    this.mode = "now";
    this.update(this.context.status);
  }

  /** The selected incident. */
  incident() {
    const { incidents, past } = this.context.status;
    const all = [...incidents, ...past];
    if (this.number !== null) return all.find(({ incident }) => incident === this.number) ?? this.evidence?.incident ?? null;
    // A selected incident stays selected after its end.
    if (this.evidence) return all.find(({ incident }) => incident === this.evidence.incident.incident) ?? this.evidence.incident;
    const grave = incidents.filter(({ severity }) => severity !== "info");
    return grave.sort(order)[0] ?? null;
  }

  update(status) {
    this.context.status = status;
    const { game } = status;
    const title = status.table && !status.isShared ? `${place(status)} · ${status.board}` : place(status);
    say(this.title, title);
    this.showHall(status);
    const wrong = health(status);
    const key = JSON.stringify(wrong);
    if (key !== this.wrong) {
      this.wrong = key;
      this.health.replaceChildren(...wrong.map(([how, what]) => make("span", `chip ${how}`, {}, what)));
    }
    this.drawOthers();
    this.drawCase();
    this.seat();
    this.moves.update(game, status.made);
    this.correct.update(game);
    this.past.update(status);
    this.show();
    this.enter.update(status);
  }

  /** Shows the players of the game or, before it begins, of the pairing. */
  seat() {
    const { status } = this.context;
    if (!status) return;
    const { players: seats, isAwaited } = seated(status, this.source);
    // The moves and the forms are about the last game until the next one begins.
    const players = isAwaited ? status.game.players : seats;
    say(this.names, names({ players }));
    this.diagram.update(status, players);
  }

  /** Shows the lines of the queue about this board that have no incident. */
  remark(lines) {
    this.remarks.hidden = lines.length === 0;
    const key = JSON.stringify(lines.map(({ key: one, severity, text, href }) => [one, severity, text, href]));
    if (key === this.remarked) return;
    this.remarked = key;
    this.remarks.replaceChildren(
      ...lines.map((line) => {
        const title = line.href ? make("a", "", { href: line.href }, titleOf(line)) : make("b", "", {}, titleOf(line));
        return make("li", line.severity, {}, sign(line.severity), make("span", "", {}, title, ` ${line.text}`));
      }),
    );
  }

  drawOthers() {
    const { incidents } = this.context.status;
    const open = incidents.filter(({ severity }) => severity !== "info");
    const current = this.incident()?.incident;
    const some = open.length > 1 || (open.length === 1 && open[0].incident !== current) ? open : [];
    some.sort(order);
    const key = JSON.stringify([some.map(({ incident, severity }) => [incident, severity]), current]);
    this.others.hidden = some.length === 0;
    if (key === this.otherKey) return;
    this.otherKey = key;
    this.others.replaceChildren(
      ...some.map((one) => {
        const link = make("a", one.severity, { href: address(this.board, one.incident) }, sign(one.severity), titleOf(one));
        mark(link, "aria-current", one.incident === current ? "true" : null);
        return link;
      }),
    );
  }

  drawCase() {
    const incident = this.incident();
    if (!incident) return;
    const isOver = !this.context.status.incidents.some((one) => one.incident === incident.incident);
    if (this.evidence?.incident?.incident !== incident.incident) {
      this.evidence = new Evidence((at) => this.view("moment", at));
      this.judge = judging(this.context, incident, this.evidence);
      this.case.replaceChildren(this.evidence.element);
      this.beside.replaceChildren(this.evidence.beside);
    }
    this.evidence.update(incident, this.context.status, isOver);
    this.judge.update(isOver);
  }

  /** Selects the position that the diagram shows. */
  view(mode, at = null) {
    if (this.correct.isOn) return;
    const count = this.context.status.game?.moves.length ?? 0;
    this.mode = mode;
    if (mode === "ply") this.at = Math.max(0, Math.min(at, count));
    if (mode === "moment") this.at = Math.max(0, Math.min(at, this.evidence.moments.length - 1));
    this.show();
    this.enter.update(this.context.status);
  }

  /** Ply that the diagram shows, or the last one. */
  shownPly() {
    return this.mode === "ply" ? this.at : this.context.status.game?.moves.length ?? 0;
  }

  show() {
    if (this.correct.isOn) return;
    const { status } = this.context;
    const incident = this.evidence?.incident;
    if (this.mode === "before" && !incident?.evidence.fen) this.mode = "now";
    if (this.mode === "game" && !status.game_placement) this.mode = "now";
    if (this.mode === "moment" && !this.evidence?.moments.length) this.mode = "now";
    // The position before the incident is offered only if it differs from the present one.
    const [before] = incident?.evidence.fen?.split(" ") ?? [];
    this.views.before.hidden = !before || (this.mode !== "before" && before === status.placement && before === status.game_placement);
    this.views.game.hidden = !status.game_placement;
    for (const [name, one] of Object.entries(this.views)) mark(one, "aria-pressed", String(name === this.mode));
    const isOpen = status.incidents.some((one) => one.incident === incident?.incident);
    const marks = incident && (isOpen || this.mode === "before") ? this.evidence.marks() : new Map();
    const shows = { now: () => this.showNow(marks), game: () => this.showGame(), before: () => this.showBefore(marks) };
    shows.ply = () => this.showPly();
    shows.moment = () => this.showMoment();
    shows[this.mode]();
    this.moves.point(this.mode === "ply" ? this.at : null);
    this.evidence?.point(this.mode === "moment" ? this.at : null);
  }

  showNow(marks) {
    const { status } = this.context;
    const differs = isPlaying(status) ? differing(status) : new Map();
    const squares = [...differs.keys()];
    const all = new Map([...differs, ...marks]);
    for (const square of squares) if (marks.has(square)) all.set(square, "concerned differs");
    this.diagram.show(status.placement, { marks: all, text: standing(status) });
  }

  showGame() {
    const { status } = this.context;
    const last = status.game?.moves.at(-1)?.uci;
    this.diagram.show(status.game_placement, { marks: differing(status), last, text: standing(status) });
  }

  showBefore(marks) {
    const { fen } = this.evidence.incident.evidence;
    const turn = fen.split(" ")[1] === "b" ? "black" : "white";
    this.diagram.show(fen, { marks, text: fill(words.views.beforeText, { color: words[turn] }) });
  }

  showPly() {
    const { game } = this.context.status;
    const ply = Math.min(this.at, game?.moves.length ?? 0);
    if (!game) return;
    const text = ply ? fill(words.views.plyText, { move: numbered(game, ply) }) : words.views.startText;
    this.diagram.show(after(game, ply), { last: game.moves[ply - 1]?.uci, text });
  }

  showMoment() {
    const moment = this.evidence.moments[Math.min(this.at, this.evidence.moments.length - 1)];
    const marks = new Map([[moment.square, "concerned"]]);
    const what = toldMoment(moment);
    this.diagram.show(moment.placement, { marks, text: fill(words.views.momentText, { at: time(moment.at, true), what }) });
  }

  startCorrection() {
    const { game } = this.context.status;
    const shown = this.shownPly();
    this.correct.start(game, Math.max(1, Math.min(shown, game.moves.length + 1)));
    return null;
  }

  /** Handles a key; returns whether it has a function here. */
  press(name) {
    const isMoment = this.mode === "moment" || (this.mode !== "ply" && this.evidence?.moments.length > 0);
    const step = (by) => {
      if (!isMoment) this.view("ply", this.shownPly() + by);
      else if (this.mode === "moment") this.view("moment", this.at + by);
      else this.view("moment", by > 0 ? 0 : Infinity);
    };
    const acts = {
      ArrowLeft: () => step(-1),
      ArrowRight: () => step(1),
      Home: () => this.view(isMoment ? "moment" : "ply", 0),
      End: () => this.view("now"),
      f: () => this.diagram.flip(),
      Escape: () => (this.correct.isOn ? this.correct.stop() : this.back()),
    };
    acts[name]?.();
    return name in acts;
  }

  /** Updates times and clocks; returns whether a clock shows tenths of a second. */
  pass() {
    // Some states depend on the time, such as a piece in hand.
    if (!this.correct.isOn && ["now", "game"].includes(this.mode)) say(this.diagram.caption, standing(this.context.status));
    this.judge?.pass();
    const hurries = this.evidence?.pass() ?? false;
    return this.diagram.pass() || hurries;
  }
}
