// Test of the squares: every piece is lifted and put back, and the page ticks the squares that have reported both.

import { button, choose, make, mark, say } from "/page/dom.js";
import { HEADERS, ask } from "./session.js";
import { fill, nameAtTable, words } from "./words.js";

const FILES = [..."abcdefgh"];
const RANKS = [8, 7, 6, 5, 4, 3, 2, 1];
export const SQUARES = RANKS.flatMap((rank) => FILES.map((file) => `${file}${rank}`));

/** Index of a square in the state that the server sends, which begins with a1, b1. */
function indexOf(square) {
  return FILES.indexOf(square[0]) + 8 * (Number(square[1]) - 1);
}

/** Test results of each board's squares. The server stores them, so that all pages show the same. */
export class Tests {
  constructor(source) {
    this.source = source;
  }

  /** State of a square: "seen" if it was emptied and filled, "half" after one of them, else "open". */
  state(board, square) {
    const digit = this.source.boards.get(board)?.squares?.[indexOf(square)] ?? "0";
    return { 0: "open", 3: "seen" }[digit] ?? "half";
  }

  /** Squares that were not both emptied and filled. */
  missing(board) {
    return SQUARES.filter((square) => this.state(board, square) !== "seen");
  }

  /** Restarts the test of a board; returns whether the server has done so. */
  async forget(board) {
    const options = { method: "DELETE", headers: HEADERS };
    const answer = await ask(`/squares/${encodeURIComponent(board)}`, options).catch(() => null);
    return answer?.ok ?? false;
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
    this.failed = make("p", "answer bad", { role: "alert" });
    const again = button("", squares.again, squares.again, async () => {
      const { board } = this;
      say(this.failed, "");
      if (await this.tests.forget(board)) this.finished.delete(board);
      else say(this.failed, words.login.silent);
      this.changed?.();
    });
    const beside = make("div", "beside", {}, this.choice, this.count, ...this.halves);
    beside.append(make("div", "buttons", {}, this.finish, again), this.failed, this.dead);
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
    const choices = boards.map((status) => [status.board, nameAtTable(status)]);
    const key = JSON.stringify(choices);
    if (key !== this.shown) {
      this.shown = key;
      const list = choose(words.board, choices, this.board, (name) => {
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
