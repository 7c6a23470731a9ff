// A diagram of both clocks over the moves, with axes.

import { text } from "./clock.js";
import { draw, make, mark } from "./dom.js";
import { words } from "./words.js";

const HEIGHT = 170;
const [LEFT, RIGHT, TOP, BOTTOM] = [50, 10, 10, 22];
/** Maximum number of grid lines above the lowest. */
const MOST_LINES = 5;
/** Possible distances of grid lines, in seconds. */
const STEPS = [5, 10, 15, 30, 60, 120, 300, 600, 900, 1200, 1800, 3600, 7200, 21600];
/** Possible distances of move numbers. */
const NUMBERS = [1, 2, 5, 10, 20, 50, 100];
/** Width that a move number needs. */
const NUMBER_WIDTH = 34;

/** The times at the lower and the upper edge, and the distance between grid lines, in milliseconds. */
export function scale(times) {
  const [shortest, longest] = [Math.min(...times), Math.max(...times)];
  // If both players always have more than half of the longest time, the axis begins near the shortest time, so that the
  // differences are visible.
  const floor = shortest > longest / 2 ? shortest : 0;
  const seconds = STEPS.find((each) => (longest - floor) / 1000 / each <= MOST_LINES) ?? STEPS.at(-1);
  const step = Math.max(seconds * 1000, (longest - floor) / MOST_LINES);
  const bottom = Math.floor(floor / step) * step;
  return { bottom, top: bottom + step * Math.max(1, Math.ceil((longest - bottom) / step)), step };
}

export class Curve {
  constructor() {
    this.lines = { white: draw("polyline", { class: "white" }), black: draw("polyline", { class: "black" }) };
    this.at = draw("line", { class: "at", y1: TOP, y2: HEIGHT - BOTTOM });
    this.axes = draw("g", { class: "axes" });
    this.picture = draw(
      "svg",
      { role: "img" },
      draw("title", {}, words.curve),
      this.axes,
      this.at,
      this.lines.white,
      this.lines.black,
    );
    const key = (side) => make("span", `key ${side}`, {}, words[side]);
    const caption = make("figcaption", "", {}, key("white"), key("black"));
    this.element = make("figure", "curve", {}, this.picture, caption);
    this.element.hidden = true;
    this.width = 0;
    new ResizeObserver(() => this.resize()).observe(this.element);
  }

  /** Draws the moves. `first` is the side that made the first move, `number` is its number. */
  update(moves, first, number) {
    Object.assign(this, { moves, first, number });
    this.of = { white: [], black: [] };
    const second = first === "white" ? "black" : "white";
    moves.forEach((played, index) => {
      if (played.left_ms !== null) this.of[index % 2 ? second : first].push([index + 1, played.left_ms]);
    });
    const count = this.of.white.length + this.of.black.length;
    this.element.hidden = count < 4;
    this.plies = Math.max(2, moves.length);
    this.redraw();
  }

  resize() {
    const width = Math.round(this.picture.getBoundingClientRect().width);
    if (!width || width === this.width) return;
    this.width = width;
    this.redraw();
  }

  redraw() {
    if (!this.width || !this.of || this.element.hidden) return;
    mark(this.picture, "viewBox", `0 0 ${this.width} ${HEIGHT}`);
    const { bottom, top, step } = scale([...this.of.white, ...this.of.black].map(([, left]) => left));
    const foot = HEIGHT - BOTTOM;
    const y = (left) => foot - ((foot - TOP) * (left - bottom)) / (top - bottom);
    const axes = [];
    for (let left = bottom; left <= top; left += step) {
      const at = y(left).toFixed(1);
      axes.push(draw("line", { x1: LEFT, x2: this.width - RIGHT, y1: at, y2: at }));
      axes.push(draw("text", { class: "left", x: LEFT - 6, y: at, dy: "0.35em" }, text(left)));
    }
    const fit = Math.max(1, (this.width - LEFT - RIGHT) / NUMBER_WIDTH);
    const each = NUMBERS.find((one) => this.plies / 2 / one <= fit) ?? 100;
    for (let ply = this.first === "white" ? 1 : 2; ply <= this.plies; ply += 2) {
      const number = this.number + Math.floor(ply / 2);
      if (number % each) continue;
      const x = this.x(ply).toFixed(1);
      axes.push(draw("line", { x1: x, x2: x, y1: foot, y2: foot + 4 }));
      axes.push(draw("text", { class: "under", x, y: HEIGHT - 5 }, String(number)));
    }
    this.axes.replaceChildren(...axes);
    for (const [side, all] of Object.entries(this.of)) {
      const drawn = all.map(([ply, left]) => `${this.x(ply).toFixed(1)},${y(left).toFixed(1)}`);
      mark(this.lines[side], "points", drawn.join(" "));
    }
    this.point(this.ply ?? 0);
  }

  /** Marks a ply. */
  point(ply) {
    this.ply = ply;
    const x = this.x(ply).toFixed(1);
    mark(this.at, "x1", x);
    mark(this.at, "x2", x);
  }

  x(ply) {
    return LEFT + (Math.max(0, this.width - LEFT - RIGHT) * ply) / (this.plies ?? 2);
  }
}
