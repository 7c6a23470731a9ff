// A diagram of both clocks over the moves.

import { text } from "./clock.js";
import { draw, make, mark } from "./dom.js";
import { words } from "./words.js";

const [WIDTH, HEIGHT] = [600, 150];
const EDGE = 4;

export class Curve {
  constructor() {
    this.lines = { white: draw("polyline", { class: "white" }), black: draw("polyline", { class: "black" }) };
    this.at = draw("line", { class: "at", y1: 0, y2: HEIGHT });
    this.title = draw("title", {}, words.curve);
    this.most = make("span", "most");
    const picture = draw(
      "svg",
      { viewBox: `0 0 ${WIDTH} ${HEIGHT}`, role: "img", preserveAspectRatio: "none" },
      this.title,
      this.at,
      this.lines.white,
      this.lines.black,
    );
    const key = (side) => make("span", `key ${side}`, {}, words[side]);
    const caption = make("figcaption", "", {}, this.most, key("white"), key("black"));
    this.element = make("figure", "curve", {}, picture, caption);
  }

  /** `first` is the side that made the first move. */
  update(moves, first) {
    const of = { white: [], black: [] };
    const second = first === "white" ? "black" : "white";
    moves.forEach((played, index) => {
      if (played.left_ms !== null) of[index % 2 ? second : first].push([index + 1, played.left_ms]);
    });
    const all = [...of.white, ...of.black];
    this.element.hidden = all.length < 4;
    this.plies = Math.max(2, moves.length);
    const most = Math.max(1, ...all.map(([, left]) => left));
    const height = (left) => HEIGHT - EDGE - ((HEIGHT - 2 * EDGE) * left) / most;
    for (const [side, points] of Object.entries(of)) {
      const drawn = points.map(([ply, left]) => `${this.x(ply).toFixed(1)},${height(left).toFixed(1)}`);
      mark(this.lines[side], "points", drawn.join(" "));
    }
    this.most.textContent = text(most);
  }

  /** Marks a ply. */
  point(ply) {
    const x = this.x(ply).toFixed(1);
    mark(this.at, "x1", x);
    mark(this.at, "x2", x);
  }

  x(ply) {
    return EDGE + ((WIDTH - 2 * EDGE) * ply) / (this.plies ?? 2);
  }
}
