// Test of every square: each piece is lifted and put back, and the page ticks the squares that reported it.

import { button, choose, make, mark, say } from "/page/dom.js";
import { fill, words } from "./words.js";

const FILES = [..."abcdefgh"];
const RANKS = [8, 7, 6, 5, 4, 3, 2, 1];
export const SQUARES = RANKS.flatMap((rank) => FILES.map((file) => `${file}${rank}`));
const KEPT = "kiebitz-desk-squares";
/** Age in milliseconds at which a test expires. Sensors may fail from one day to the next. */
const HOLDS = 18 * 3600 * 1000;

/** Test results of each board's squares. */
export class Tests {
  constructor() {
    this.boards = new Map();
    try {
      const { at = 0, boards = [] } = JSON.parse(localStorage.getItem(KEPT) ?? "{}");
      if (Date.now() - at > HOLDS) return;
      for (const [board, [emptied, filled]] of boards) {
        this.boards.set(board, { emptied: new Set(emptied), filled: new Set(filled) });
      }
    } catch {
      // Unreadable results: the test starts again.
    }
  }

  of(board) {
    if (!this.boards.has(board)) this.boards.set(board, { emptied: new Set(), filled: new Set() });
    return this.boards.get(board);
  }

  /** Notes squares of a board that were emptied or filled. */
  see(board, emptied, filled) {
    const test = this.of(board);
    for (const square of emptied) test.emptied.add(square);
    for (const square of filled) test.filled.add(square);
    this.keep();
  }

  forget(board) {
    this.boards.delete(board);
    this.keep();
  }

  keep() {
    clearTimeout(this.later);
    this.later = setTimeout(() => {
      const boards = [...this.boards].map(([board, { emptied, filled }]) => [board, [[...emptied], [...filled]]]);
      try {
        localStorage.setItem(KEPT, JSON.stringify({ at: Date.now(), boards }));
      } catch {
        // Without storage, the results last until the page is closed.
      }
    }, 500);
  }

  /** State of a square: "seen" if it was emptied and filled, "half" after one of them, else "open". */
  state(board, square) {
    const { emptied, filled } = this.of(board);
    if (emptied.has(square) && filled.has(square)) return "seen";
    return emptied.has(square) || filled.has(square) ? "half" : "open";
  }

  /** Squares that were not both emptied and filled. */
  missing(board) {
    return SQUARES.filter((square) => this.state(board, square) !== "seen");
  }
}

/** Whether a square has a piece in the start position. */
function isHome(square) {
  return !"3456".includes(square[1]);
}

export class Squares {
  constructor(tests) {
    this.tests = tests;
    this.board = null;
    /** Boards whose test the user has finished. */
    this.finished = new Set();
    const { squares } = words.setup;
    this.choice = make("div", "field");
    this.cells = new Map();
    const grid = SQUARES.map((square) => {
      const cell = make("span", `square ${(square.charCodeAt(0) + Number(square[1])) % 2 ? "light" : "dark"}`);
      cell.append(make("small", "", {}, square), make("b", ""));
      this.cells.set(square, cell);
      return cell;
    });
    this.grid = make("div", "squares", { "aria-hidden": "true" }, ...grid);
    this.count = make("p", "count", { role: "status" });
    this.halves = [make("p", ""), make("p", "")];
    this.dead = make("div", "dead", { hidden: "" });
    this.finish = button("main", squares.finish, squares.finish, () => {
      this.finished.add(this.board);
      this.draw();
    });
    const again = button("", squares.again, squares.again, () => {
      this.tests.forget(this.board);
      this.finished.delete(this.board);
      this.changed?.();
    });
    const beside = make("div", "beside", {}, this.choice, this.count, ...this.halves);
    beside.append(make("div", "buttons", {}, this.finish, again), this.dead);
    this.none = make("p", "quiet", {}, words.setup.wrong.noBoards);
    this.test = make("div", "testing", {}, this.grid, beside);
    this.element = make("div", "", {}, make("p", "", {}, squares.how), this.none, this.test);
  }

  /** Shows the test of this board, and moves the focus to it. */
  open(board) {
    this.board = board;
    this.shown = null;
    this.changed?.();
    this.choice.querySelector("select")?.focus({ preventScroll: true });
  }

  update(boards) {
    const names = boards.map(({ board }) => board);
    if (!names.includes(this.board)) this.board = names[0] ?? null;
    this.none.hidden = names.length > 0;
    this.test.hidden = !names.length;
    if (!names.length) return;
    const key = JSON.stringify(names);
    if (key !== this.shown) {
      this.shown = key;
      const list = choose(words.board, names.map((name) => [name, name]), this.board, (name) => {
        this.board = name;
        this.draw();
      });
      this.choice.replaceChildren(make("span", "", { "aria-hidden": "true" }, words.board), list);
    }
    this.draw();
  }

  draw() {
    const { squares } = words.setup;
    const missing = this.tests.missing(this.board);
    const isFinished = this.finished.has(this.board) && missing.length > 0;
    for (const [square, cell] of this.cells) {
      const state = this.tests.state(this.board, square);
      const shown = isFinished && state !== "seen" ? "dead" : state;
      mark(cell, "data-state", shown);
      say(cell.lastChild, { seen: "✓", half: "½", dead: "✗", open: "" }[shown]);
    }
    say(this.count, fill(squares.count, { n: 64 - missing.length }));
    const [first, second] = [missing.filter(isHome), missing.filter((square) => !isHome(square))];
    say(this.halves[0], first.length ? fill(squares.first, { squares: first.join(", ") }) : squares.firstDone);
    say(this.halves[1], second.length ? fill(squares.second, { squares: second.join(", ") }) : squares.secondDone);
    this.finish.hidden = missing.length === 0 || isFinished;
    this.dead.hidden = !isFinished;
    if (isFinished) this.dead.replaceChildren(make("b", "", {}, fill(squares.dead, { squares: missing.join(", ") })), " ", squares.what);
  }
}
