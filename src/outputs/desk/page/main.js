// The desk: login, the list of lines that need a person, the room, and one opened board.

import * as clock from "/page/clock.js";
import { button, make, mark, say } from "/page/dom.js";
import { Alarms } from "./alarm.js";
import { askedBoard, askedGames, askedResults, askedStep, isSetup } from "./asked.js";
import { lacking } from "./before.js";
import { forgetDrafts } from "./draft.js";
import { attend } from "./going.js";
import { Memory, isPlaying, keysOf, lines, singlesOf } from "./lines.js";
import { List, addressOf } from "./list.js";
import { PARTS, Part } from "./part.js";
import { Room } from "./room.js";
import { RoundBar, awaits, missingLines, seated, sharedLines } from "./round.js";
import { current, form, logOut, may } from "./session.js";
import { DeskSource } from "./source.js";
import { fill, language, time, words } from "./words.js";

const [head, state, alarm, said, main] = ["head", "state", "alarm", "said", "main"].map((id) => document.getElementById(id));
/** Interval in milliseconds at which the list is redrawn, as some lines become due with time. */
const LOOK = 5000;
/** Delay in milliseconds by which the changes of several boards are drawn together. */
const SOON = 150;

class Desk {
  constructor(session) {
    this.session = session;
    this.source = new DeskSource((board) => this.changed(board), () => leave(words.login.over));
    this.memory = new Memory();
    this.list = new List(this.memory, {
      see: (line) => this.see(line),
      attend: (line, isGoing) => attend(this.source, line, isGoing),
      user: may(session, "attend") ? session.user : null,
      check: (line) => {
        for (const key of keysOf(line)) this.memory.check(key);
        this.drawList();
        this.list.title.focus();
      },
    });
    // A hub has the boards of all halls, but no past games.
    this.isHub = session.hub === true;
    this.isOperator = may(session, "start_round");
    this.room = new Room(this.isHub ? words.halls : words.room, (status) => seated(status, this.source));
    this.parts = this.onDemand((text) => say(said, text));
    const begins = () => {
      this.parts.begin.show(true);
      this.begin?.update(true);
      this.beginning.showModal();
    };
    this.beginning = this.isOperator ? this.dialog() : null;
    this.bar = new RoundBar(this.source, this.isOperator ? begins : null);
    this.toSetup = make("a", "to-setup", { href: "#/setup" }, words.parts.setup);
    this.alarms = new Alarms(alarm, (line) => (location.hash = addressOf(line)), may(session, "attend"));
    this.opened = null;
    this.wasPast = this.isPast();
    /** The part that gets the focus once it is loaded, and the function that moves the focus. */
    this.toFocus = null;
    this.lost = make("p", "quiet", { hidden: "" }, words.opened.lost);
    this.keys = make("p", "quiet keys-help", {}, words.keys);
    this.waiting = make("p", "quiet", {}, words.waiting);
    this.summary = make("p", "facts");
    // On narrow screens an opened board hides the list; this link shows how many lines it has.
    this.others = make("a", "others-to-do", { href: "#/" });
    this.past = make("a", "to-past");
    this.elsewhere = make("p", "quiet", {}, words.hub);
    this.elsewhere.hidden = !this.isHub;
    this.element = make("div", "desk");
  }

  /** The parts that are loaded when they are first opened. */
  onDemand(announce) {
    const { session, source, isHub } = this;
    const arrived = (part) => this.arrived(part);
    const board = { say: announce, back: () => (location.hash = "#/") };
    const parts = {
      board: new Part(PARTS.board, ({ Board }) => new Board(session, source, board), arrived),
      results: new Part(PARTS.results, ({ ResultsSheet }) => new ResultsSheet(session, source, announce), arrived),
    };
    if (isHub) parts.halls = new Part(PARTS.halls, ({ HallMenu }) => new HallMenu(), arrived);
    else {
      const left = () => leave(words.login.over);
      parts.games = new Part(PARTS.games, ({ Archive }) => new Archive(session, source, announce, left), arrived);
    }
    if (this.isOperator) {
      parts.setup = new Part(PARTS.setup, ({ Setup }) => new Setup(source, announce, isHub), arrived);
      // The focus returns to the bar, which shows the new round.
      const done = () => {
        this.beginning.close();
        this.bar.begin.focus({ preventScroll: true });
      };
      parts.begin = new Part(PARTS.begin, ({ Begin }) => new Begin(source, announce, { isHub, done }), () => this.begin.update(true));
    }
    return parts;
  }

  /** The part that shows an opened board; null until it is loaded, like the other parts. */
  get board() {
    return this.parts.board.it;
  }

  get archive() {
    return this.parts.games?.it ?? null;
  }

  get results() {
    return this.parts.results.it;
  }

  get setup() {
    return this.parts.setup?.it ?? null;
  }

  get begin() {
    return this.parts.begin?.it ?? null;
  }

  get halls() {
    return this.parts.halls?.it ?? null;
  }

  /** The dialog that begins a round. */
  dialog() {
    const dialog = make("dialog", "settings", { "aria-labelledby": "begin-round" });
    const close = button("", words.alarms.close, words.alarms.close, () => dialog.close());
    dialog.append(make("h2", "", { id: "begin-round" }, words.round.beginTitle), this.parts.begin.place, close);
    return dialog;
  }

  /** Updates a part that has just been loaded. */
  arrived(part) {
    if (this.isOver) {
      this.stopParts();
      return;
    }
    this.look();
    if (!this.source.isReady) return;
    this.halls?.update(this.source.boards.values());
    this.archive?.follow(this.source.boards);
    this.drawBoard();
    this.repair = true;
    this.drawSoon();
    if (this.toFocus?.part !== part) return;
    this.toFocus.act(part.it);
    this.toFocus = null;
  }

  start() {
    const { user, role } = this.session;
    const out = button("", words.leave, words.leave, async () => {
      await logOut().catch(() => {});
      forgetDrafts();
      leave();
    });
    const who = make("p", "facts", {}, `${user} · ${words.roles[role] ?? role}`);
    const { halls, games, results, setup, board } = this.parts;
    const places = [halls?.place ?? this.past, ...(setup ? [this.toSetup] : [])];
    const tools = make("div", "tools", {}, ...places, this.alarms.sound, this.alarms.settings, out);
    const about = make("div", "about", {}, this.summary, who);
    head.replaceChildren(make("div", "", {}, make("h1", "", {}, words.title), about), this.others, tools);
    this.element.append(this.list.element, make("div", "side-of", {}, this.lost, board.place, this.room.element));
    const whole = [games, results, setup].filter(Boolean).map(({ place }) => place);
    main.before(this.bar.element);
    main.replaceChildren(this.waiting, this.element, ...whole, this.elsewhere, this.keys, this.alarms.dialog);
    if (this.beginning) main.append(this.beginning);
    this.element.hidden = true;
    this.look();
    this.source.troubled = () => this.drawState();
    // The parts of the page depend on user and role.
    this.source.entered = (session) => {
      if (session && (session.user !== user || session.role !== role)) location.reload();
    };
    this.source.paired = () => {
      this.repair = true;
      this.setup?.paired();
      this.drawSoon();
    };
    this.source.roundsChanged = () => {
      this.repair = true;
      this.setup?.paired();
      this.drawSoon();
    };
    halls?.show(true);
    this.source.start();
    this.timer = setInterval(() => this.drawList(), LOOK);
    this.pass = () => this.passing();
    clock.follow(this.pass);
    clock.tick();
  }

  stop() {
    this.source.stop();
    this.stopParts();
    this.bar.stop();
    clearInterval(this.timer);
    this.isOver = true;
    say(state, "");
    document.body.classList.remove("stale", "unkept", "one", "past", "setting-up", "results-shown");
  }

  stopParts() {
    this.archive?.stop();
    this.setup?.stop();
    this.halls?.stop();
  }

  /** Handles the change of a board, or with null, of the set of boards. */
  changed(board) {
    this.waiting.hidden = true;
    this.show();
    this.setup?.changed();
    const { boards } = this.source;
    this.archive?.follow(boards);
    this.halls?.update(boards.values());
    if (board === null) this.room.update(boards, this.opened);
    else this.room.change(boards.get(board), this.opened);
    if (board === null || board === this.opened) this.drawBoard();
    if (board === null) this.drawList();
    else this.drawSoon();
    if (!this.isUsable) this.prepare();
  }

  /** Loads the part for opened boards as soon as the list is usable, so that no decision waits for the network. */
  prepare() {
    this.isUsable = true;
    performance.mark("kiebitz-usable");
    setTimeout(() => this.parts.board.open());
  }

  drawSoon() {
    this.soon ??= setTimeout(() => this.drawList(), SOON);
  }

  /** Shows or hides the main parts: past games and the set-up replace everything else. */
  show() {
    const { isReady } = this.source;
    const { games, results, setup } = this.parts;
    const isPast = this.isPast();
    const setsUp = Boolean(setup) && isSetup();
    const isSheet = askedResults() !== null;
    this.element.hidden = isPast || setsUp || isSheet || !isReady;
    this.waiting.hidden = isPast || isReady;
    document.body.classList.toggle("past", isPast);
    document.body.classList.toggle("setting-up", setsUp);
    document.body.classList.toggle("results-shown", isSheet);
    games?.show(isPast);
    setup?.show(setsUp && isReady);
    results.show(isSheet && isReady);
    this.setup?.show(setsUp && isReady);
    this.results?.show(isSheet && isReady);
    mark(this.bar.results, "aria-current", isSheet ? "page" : null);
    mark(this.toSetup, "aria-current", setsUp ? "page" : null);
  }

  /** Whether past games are shown. */
  isPast() {
    return Boolean(this.parts.games) && askedGames() !== null;
  }

  drawBoard() {
    const { board, number } = askedBoard();
    const status = this.source.boards.get(board);
    const isOther = board !== this.opened;
    this.opened = board;
    document.body.classList.toggle("one", board !== null);
    this.lost.hidden = board === null || Boolean(status);
    this.parts.board.show(Boolean(status));
    if (!this.board) return;
    this.board.element.hidden = !status;
    if (!status) return;
    if (isOther || this.board.board !== board) this.board.open(status, number);
    else {
      this.board.choose(number);
      this.board.update(status);
    }
  }

  drawList() {
    clearTimeout(this.soon);
    this.soon = null;
    if (!this.source.isReady || this.isOver) return;
    const { boards } = this.source;
    const now = clock.now();
    if (this.repair) {
      this.repair = false;
      this.room.pair();
      this.board?.seat();
    }
    this.bar.update(now);
    this.begin?.update();
    this.results?.draw();
    const others = [...missingLines(this.source, now), ...sharedLines(this.source)];
    const all = lines(boards.values(), this.memory, now, others, (status) => awaits(status, this.source));
    const { board, number } = askedBoard();
    const shown = board === null ? null : this.board?.evidence?.incident?.incident ?? number;
    const isOpened = (line) => board !== null && line.board === board && (line.incident === null || line.incident === shown);
    // An opened line counts as seen.
    const single = all.flatMap(singlesOf);
    for (const line of single.filter(isOpened)) this.memory.see(line.key);
    this.board?.remark(single.filter((line) => board !== null && line.board === board && line.incident === null));
    this.list.update(all, isOpened, lacking(this.source, this.isHub), this.isOperator);
    this.alarms.update(all);
    const grave = all.filter(({ severity }) => severity !== "hint");
    document.title = `${grave.length ? `(${grave.length}) ` : ""}${words.title}`;
    const fresh = grave.filter((line) => !this.memory.hasSeen(line)).length;
    say(this.others, fill(fresh ? words.othersNew : words.others, { n: grave.length, fresh }));
    this.others.className = `others-to-do ${grave[0]?.severity ?? ""}${fresh ? " fresh" : ""}`;
    this.others.hidden = grave.length === 0;
    const playing = [...boards.values()].filter(isPlaying).length;
    say(this.summary, fill(words.summary, { boards: boards.size, playing }));
  }

  see(line) {
    for (const key of keysOf(line)) this.memory.see(key);
    this.drawList();
  }

  /** Shows past games if the address names them, and returns whether it does. */
  look() {
    const isPast = this.isPast();
    this.archive?.go();
    say(this.keys, isPast ? words.parts.gamesKeys : words.keys);
    say(this.past, isPast ? words.parts.toDesk : words.parts.games);
    this.past.href = isPast ? "#/" : "#/games";
    this.show();
    return isPast;
  }

  /** Follows a change of the address. */
  go() {
    const { wasPast } = this;
    const isPast = this.look();
    this.wasPast = isPast;
    this.toFocus = null;
    if (!this.source.isReady) return;
    const before = this.opened;
    this.beginning?.close();
    this.drawBoard();
    this.room.update(this.source.boards, this.opened);
    this.drawList();
    if (this.parts.setup && isSetup()) {
      scrollTo(0, 0);
      this.focus(this.parts.setup, (setup) => setup.reveal(askedStep()));
    } else if (askedResults() !== null) {
      this.focus(this.parts.results, (results) => results.focus());
    } else if (this.opened !== null && this.opened !== before) {
      scrollTo(0, 0);
      this.focus(this.parts.board, (board) => {
        board.diagram.fit();
        board.title.focus({ preventScroll: true });
      });
    } else if (this.opened === null && before !== null && !isPast) this.list.focus(before);
    else if (wasPast && !isPast && this.opened === null) this.list.title.focus({ preventScroll: true });
  }

  /** Calls `act` to move the focus to a part, now or once the part is loaded. */
  focus(part, act) {
    if (part.it) act(part.it);
    else this.toFocus = { part, act };
  }

  drawState() {
    const since = this.source.stale();
    const notices = [since && fill(words.stale, { time: time(since) }), !this.source.isKept && words.unkept];
    say(state, notices.filter(Boolean).join(" "));
    document.body.classList.toggle("unkept", !this.source.isKept);
    document.body.classList.toggle("stale", Boolean(since));
  }

  /** Updates times and clocks; returns whether a clock shows tenths of a second. */
  passing() {
    if (this.isOver) return false;
    this.drawState();
    this.list.pass();
    const hurries = this.room.pass();
    const isOpened = this.opened !== null && this.source.boards.has(this.opened);
    return (isOpened && Boolean(this.board?.pass())) || hurries;
  }

  /** Handles a key; returns whether it has a function here. */
  press(name) {
    if (this.isPast()) return this.archive?.press(name) ?? false;
    if (this.parts.setup && isSetup()) {
      if (name === "Escape") location.hash = "#/";
      return name === "Escape";
    }
    if (askedResults() !== null) return this.results?.press(name) ?? false;
    const isStep = { j: 1, k: -1 }[name];
    if (isStep) {
      this.list.step(isStep);
      return true;
    }
    if (this.opened !== null && this.source.boards.has(this.opened)) {
      // If the board does not use the key, up and down move through the list.
      if (this.board?.press(name)) return true;
    }
    const by = { ArrowDown: 1, ArrowUp: -1 }[name];
    const isInList = this.list.element.contains(document.activeElement) || document.activeElement === document.body;
    if (!by || !isInList || (this.opened !== null && document.activeElement === document.body)) return false;
    this.list.step(by);
    return true;
  }
}

let context = null;

function enter(session) {
  context = new Desk(session);
  context.start();
  if (!context.isPast()) context.list.title.focus({ preventScroll: true });
}

/** Ends the session and shows the login form with `reason`. `isFirst` selects the form for the first operator. */
function leave(reason = "", isFirst = false) {
  context?.stop();
  context = null;
  head.replaceChildren();
  document.title = words.title;
  const login = form(enter, reason, isFirst);
  main.replaceChildren(login.element);
  login.focus();
}

async function start() {
  document.documentElement.lang = language;
  document.title = words.title;
  say(state, "");
  const session = await current().catch(() => undefined);
  if (session === undefined) {
    say(state, words.login.silent);
    setTimeout(start, 3000);
  } else if (session?.refused) say(state, words.login.stranger);
  else if (session?.first) leave("", true);
  else if (session) enter(session);
  else leave();
}

addEventListener("hashchange", () => context?.go());
addEventListener("keydown", (event) => {
  const isTyped = event.target.closest?.("input, select, textarea, dialog");
  const isPlain = !event.altKey && !event.ctrlKey && !event.metaKey;
  if (context && isPlain && !isTyped && context.press(event.key)) event.preventDefault();
});
document.addEventListener("visibilitychange", () => clock.tick());
start();
