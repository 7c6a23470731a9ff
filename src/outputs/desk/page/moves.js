// List of a game's moves, with buttons to step through them.

import * as clock from "/page/clock.js";
import { button, make } from "/page/dom.js";
import { move, numberOf, time, words } from "./words.js";

/** Remarks on a move, as a list of [sign, text]. */
function remarks(played, isLast) {
  const found = [];
  if (!played.legal) found.push(["✗", words.moves.illegal]);
  if (played.inferred && played.settled !== "arbiter") found.push(["?", words.moves.inferred]);
  else if (played.settled === null && !isLast) found.push(["?", words.moves.unsettled]);
  if (played.settled === "arbiter") found.push(["✎", words.moves.byArbiter]);
  return found;
}

export class Moves {
  /** `go` is called with the selected ply. */
  constructor(go) {
    this.go = go;
    this.written = [];
    this.list = make("ol", "moves", { "aria-label": words.moves.title, tabindex: "0" });
    this.list.addEventListener("click", (event) => {
      const ply = event.target.closest("[data-ply]")?.dataset.ply;
      if (ply) go(Number(ply));
    });
    this.empty = make("p", "quiet", {}, words.moves.none);
    this.legend = make("p", "small", {}, words.moves.legend);
    const step = (name, shown, by) => button("", words.moves[name], shown, () => go(by()));
    this.keys = make(
      "div",
      "keys",
      {},
      step("first", "⇤", () => 0),
      step("before", "←", () => this.ply - 1),
      step("after", "→", () => this.ply + 1),
      step("last", "⇥", () => this.game?.moves.length ?? 0),
    );
    this.element = make("section", "played", {}, make("h3", "", {}, words.moves.title), this.empty, this.list, this.legend, this.keys);
    this.ply = 0;
  }

  /** Shows the moves of a game, or none for null. Only changed moves are redrawn. */
  update(game, made = []) {
    this.game = game;
    this.made = made;
    const moves = game?.moves ?? [];
    const sets = new Map((game?.positions ?? []).map(({ ply, fen }) => [ply, fen]));
    const texts = moves.map((played, at) => JSON.stringify([game.game, played, at === moves.length - 1, sets.get(played.ply), made[at]]));
    let same = 0;
    while (same < this.written.length && this.written[same] === texts[same]) same += 1;
    this.written = texts;
    const focused = this.list.contains(document.activeElement) ? document.activeElement.dataset.ply : null;
    for (const old of [...this.list.querySelectorAll("[data-ply]")]) if (Number(old.dataset.ply) > same) old.remove();
    for (const row of [...this.list.children]) if (!row.querySelector("[data-ply]")) row.remove();
    for (let ply = same + 1; ply <= moves.length; ply += 1) this.write(game, ply, sets.has(ply));
    this.empty.hidden = moves.length > 0;
    this.list.hidden = this.keys.hidden = moves.length === 0;
    this.legend.hidden = moves.length === 0 || made.length === 0;
    // A redrawn move has lost the focus.
    if (focused !== null && !this.list.contains(document.activeElement)) {
      (this.list.querySelector(`[data-ply="${focused}"]`) ?? this.list).focus({ preventScroll: true });
    }
  }

  write(game, ply, isSet) {
    const played = game.moves[ply - 1];
    if (played.color === "white" || !this.list.lastElementChild) {
      const number = numberOf(game, ply).replace(/\.+$/, ".");
      const row = make("li", "", {}, make("span", "number", {}, number));
      if (played.color === "black") row.append(make("span", "gap", {}, "…"));
      this.list.append(row);
    }
    const name = make("b", "", {}, played.san ? move(played.san) : played.uci ?? "–");
    const marks = remarks(played, ply === game.moves.length);
    if (isSet) marks.push(["⟲", words.moves.set]);
    for (const [sign, text] of marks) {
      name.append(make("span", "remark", { title: text, "aria-hidden": "true" }, sign), make("span", "spoken", {}, ` (${text})`));
    }
    const left = played.clock?.[`${played.color}_ms`] ?? null;
    const facts = [
      left === null ? "" : clock.text(left),
      played.elapsed_ms === null || played.elapsed_ms === undefined ? "" : `+${clock.taken(played.elapsed_ms)}`,
      this.made[ply - 1] ? time(this.made[ply - 1]) : "",
    ];
    const times = make("span", "times", {}, ...facts.map((fact) => make("span", "", {}, fact)));
    const doubt = marks.some(([sign]) => sign === "?") ? " doubt" : "";
    const attributes = { type: "button", "data-ply": ply, tabindex: "-1" };
    this.list.lastElementChild.append(make("button", `move${doubt}`, attributes, name, times));
  }

  /** Marks the ply that the diagram shows; null if it shows another position. */
  point(ply) {
    this.ply = ply ?? this.game?.moves.length ?? 0;
    for (const old of this.list.querySelectorAll(".now")) {
      old.classList.remove("now");
      old.removeAttribute("aria-current");
    }
    const current = this.list.querySelector(`[data-ply="${this.ply}"]`);
    if (!current) return;
    if (ply !== null) {
      current.classList.add("now");
      current.setAttribute("aria-current", "true");
    }
    const { offsetTop, offsetHeight } = current.parentElement;
    const from = this.list.scrollTop;
    if (offsetTop < from || offsetTop + offsetHeight > from + this.list.clientHeight) {
      this.list.scrollTop = offsetTop - this.list.clientHeight / 2;
    }
  }
}

