// The set-up: all steps from plugging in the boards to the start of a round, in any order.

import { make, say } from "/page/dom.js";
import { Begin } from "./begin.js";
import { Files } from "./files.js";
import { HallLinks } from "./halls.js";
import { Outputs } from "./outputs.js";
import { checked, tested } from "./ready.js";
import { Readiness } from "./readiness.js";
import { order } from "./room.js";
import { ask } from "./session.js";
import { Sheet } from "./sheet.js";
import { Squares } from "./squares.js";
import { words } from "./words.js";

/** Interval of requests for the status of the outputs while they are shown, in milliseconds. */
const ASKED = 5000;
/** Delay in milliseconds by which the changes of several boards are drawn together. */
const SOON = 150;

/** A collapsible step. */
class Step {
  constructor(name, number, inside) {
    this.name = name;
    const { steps } = words.setup;
    this.state = make("span", "chip");
    const title = make("h3", "", {}, `${number}. ${steps[name]}`);
    this.wrong = make("ul", "wrong");
    const body = make("div", "folded", {}, this.wrong, ...inside);
    this.element = make("details", "step fold", { open: "" }, make("summary", "", {}, title, this.state), body);
  }

  /** Shows the problems of the step, null while they are unknown; without problems, what was checked. */
  update(found, what) {
    const { setup } = words;
    const how = found === null ? "open" : found.length ? "warn" : "fine";
    say(this.state, { open: setup.unknown, warn: setup.look, fine: what ?? setup.done }[how]);
    this.state.className = `chip ${how}`;
    const key = JSON.stringify(found);
    if (key === this.shown) return;
    this.shown = key;
    this.wrong.replaceChildren(...(found ?? []).map(({ text }) => make("li", "", {}, text)));
  }

  /** Opens the step, scrolls to it, and moves the focus to its title. */
  reveal() {
    this.element.open = true;
    this.element.scrollIntoView({ block: "start" });
    this.element.querySelector("summary").focus({ preventScroll: true });
  }
}

export class Setup {
  /** `announce` announces a text to screen readers. `isHub` leaves out the steps that are done in the halls. */
  constructor(source, announce, isHub) {
    this.source = source;
    this.isHub = isHub;
    this.readiness = new Readiness(source, isHub);
    const { tests } = this.readiness;
    const { setup } = words;
    this.boards = new Sheet(source, announce, {
      isHub,
      tested: (board) => tested(tests, board),
      test: (board) => this.test(board),
    });
    this.files = new Files({ say: announce, changed: () => this.draw() });
    this.squares = new Squares(tests);
    this.squares.changed = () => this.draw();
    this.outputs = new Outputs(announce);
    const aboutOutputs = make("p", "quiet", {}, setup.outputs.how);
    this.go = new Begin(source, announce, { isHub, readiness: this.readiness });
    const boards = [make("p", "quiet", {}, isHub ? setup.boards.hubHow : setup.boards.how), this.boards.element];
    const inHalls = [words.inHalls.pairings, words.inHalls.tests];
    this.links = isHub ? inHalls.map((text) => new HallLinks("#/setup", text)) : [];
    const [pairings, testing] = this.links;
    const ofHub = {
      boards,
      pairings: [make("p", "quiet", {}, words.inHalls.pairingsHow), pairings?.element],
      squares: [make("p", "quiet", {}, words.inHalls.testsHow), testing?.element],
      go: [make("p", "quiet", {}, setup.go.hubHow), this.go.element],
    };
    const ofHall = {
      boards,
      pairings: [this.files.element],
      squares: [this.squares.element],
      outputs: [aboutOutputs, this.outputs.element],
      go: [this.go.element],
    };
    this.steps = Object.entries(isHub ? ofHub : ofHall).map(([name, parts], at) => new Step(name, at + 1, parts));
    // The last step describes the other steps' problems in its text. A hub does not know what was done in the halls.
    const isOpen = ({ name }) => name === "go" || (isHub && name === "squares");
    for (const { state } of this.steps.filter(isOpen)) state.hidden = true;
    this.title = make("h2", "", { tabindex: "-1" }, setup.title);
    const back = make("a", "back-to", { href: "#/" }, setup.back);
    const head = make("div", "setup-head", {}, this.title, back);
    this.element = make("section", "setup", { hidden: "" }, head, make("div", "steps", {}, ...this.steps.map(({ element }) => element)));
    this.element.setAttribute("aria-label", setup.title);
  }

  /** Shows the test of a board's squares. */
  test(board) {
    const { element } = this.steps.find(({ name }) => name === "squares");
    element.open = true;
    this.squares.open(board);
    element.scrollIntoView({ block: "start" });
  }

  /** Moves the focus to a step, or to the title. */
  reveal(name) {
    const step = this.steps.find((one) => one.name === name);
    if (step) step.reveal();
    else this.title.focus({ preventScroll: true });
  }

  /** Shows or hides the set-up. */
  show(isShown) {
    if (isShown === !this.element.hidden) return;
    this.element.hidden = !isShown;
    clearInterval(this.timer);
    if (!isShown) return;
    if (!this.isHub) {
      this.files.load();
      this.outputs.load().then(() => this.askOutputs());
      this.timer = setInterval(() => this.askOutputs(), ASKED);
    }
    this.draw();
  }

  stop() {
    this.isOver = true;
    clearInterval(this.timer);
    clearTimeout(this.soon);
    this.files.stop();
  }

  async askOutputs() {
    const answer = await ask("/status").catch(() => null);
    if (!answer?.ok || this.isOver) return;
    this.readiness.status = await answer.json();
    this.outputs.update(this.readiness.status);
    this.draw();
  }

  /** Handles new pairings. */
  paired() {
    this.files.arrived();
    this.changed();
  }

  changed() {
    if (!this.element.hidden) this.soon ??= setTimeout(() => this.draw(), SOON);
  }

  draw() {
    clearTimeout(this.soon);
    this.soon = null;
    if (this.element.hidden || this.isOver) return;
    const boards = [...this.source.boards.values()].sort(order);
    const { pairings } = this.source;
    this.boards.draw();
    for (const links of this.links) links.update(boards);
    if (!this.isHub) {
      this.squares.update(boards);
      this.files.update(boards, pairings);
      this.readiness.files = this.files.known;
      this.readiness.reading = this.files.reading;
    }
    const problems = this.readiness.problems();
    const { pairings: paired, ...others } = checked(boards, pairings, this.readiness.status);
    const what = this.isHub ? { pairings: paired } : { pairings: paired, ...others };
    for (const step of this.steps) {
      if (step.name in problems) step.update(problems[step.name], what[step.name]);
    }
    this.go.update();
  }
}
