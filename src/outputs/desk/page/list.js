// The list of lines that need a person.

import { now } from "/page/clock.js";
import { button, draw, make, mark, say } from "/page/dom.js";
import { ago, place, words } from "./words.js";

/** Shape of each severity, so that it does not depend on colour. */
const SHAPES = {
  violation: ["polygon", { points: "7,1 17,1 23,7 23,17 17,23 7,23 1,17 1,7" }],
  advice: ["polygon", { points: "12,2 23,22 1,22" }],
  hint: ["circle", { cx: "12", cy: "12", r: "9" }],
  info: ["circle", { cx: "12", cy: "12", r: "4" }],
};

/** Symbol of a severity. It is hidden from screen readers, as the word is beside it. */
export function sign(severity) {
  const [shape, attributes] = SHAPES[severity] ?? SHAPES.info;
  return draw("svg", { class: `sign ${severity}`, viewBox: "0 0 24 24", "aria-hidden": "true" }, draw(shape, attributes));
}

/** Address of a board, or of one of its incidents. */
export function address(board, incident = null) {
  return `#/board/${encodeURIComponent(board)}${incident === null ? "" : `/incident/${incident}`}`;
}

/** Address of a line: its own, or that of its board. */
export function addressOf(line) {
  return line.href ?? address(line.board, line.incident);
}

class BoardRow {
  constructor(acts) {
    this.sign = make("span", "at");
    this.place = make("b", "place");
    this.kind = make("span", "kind");
    this.since = make("span", "since");
    this.word = make("span", "word");
    this.isNew = make("span", "new", {}, words.unseen);
    this.text = make("span", "text");
    const head = make("span", "row-head", {}, this.place, this.word, this.isNew, this.since);
    this.link = make("a", "line", {}, this.sign, make("span", "row", {}, head, this.kind, this.text));
    this.check = button("check", words.checked, "✓", () => acts.check(this.line));
    this.element = make("li", "", {}, this.link, this.check);
    this.link.addEventListener("click", () => acts.see(this.line));
  }

  update(line, memory, chosen) {
    this.line = line;
    if (this.severity !== line.severity) {
      this.severity = line.severity;
      this.sign.replaceChildren(sign(line.severity));
      this.element.className = line.severity;
    }
    mark(this.link, "href", addressOf(line));
    mark(this.link, "aria-current", chosen ? "true" : null);
    say(this.place, place(line));
    say(this.word, words.severity[line.severity]);
    const color = line.color ? ` · ${words[line.color]}` : "";
    say(this.kind, `${words.kinds[line.kind] ?? line.kind}${color}`);
    say(this.text, line.text);
    this.isNew.hidden = memory.seen.has(line.key);
    this.element.classList.toggle("seen", this.isNew.hidden);
    this.check.hidden = !line.mayCheck;
    this.pass();
  }

  pass() {
    say(this.since, ago(this.line.since, now()));
  }
}

export class List {
  /** `acts` has the functions `see` and `check`, which are called with a line. */
  constructor(memory, acts) {
    this.memory = memory;
    this.acts = acts;
    this.rows = new Map();
    this.title = make("h2", "", { id: "needed", tabindex: "-1" });
    this.count = make("span", "count");
    this.title.append(words.needed, " ", this.count);
    this.urgent = make("ol", "lines", { "aria-labelledby": "needed" });
    this.empty = make("p", "quiet", {}, words.nothing);
    this.below = make("h3", "", { id: "hints" }, words.hintsBelow);
    this.hints = make("ol", "lines", { "aria-labelledby": "hints" });
    this.element = make("section", "needs", { "aria-labelledby": "needed" });
    this.element.append(this.title, this.empty, this.urgent, this.below, this.hints);
  }

  /** `chosen` returns whether a line is the opened one. */
  update(all, chosen) {
    const keys = new Set(all.map(({ key }) => key));
    for (const [key, row] of this.rows) {
      if (keys.has(key)) continue;
      row.element.remove();
      this.rows.delete(key);
    }
    const urgent = all.filter(({ severity }) => severity !== "hint");
    const hints = all.filter(({ severity }) => severity === "hint");
    for (const [element, some] of [[this.urgent, urgent], [this.hints, hints]]) {
      some.forEach((line, at) => {
        let row = this.rows.get(line.key);
        if (!row) {
          row = new BoardRow(this.acts);
          this.rows.set(line.key, row);
        }
        row.update(line, this.memory, chosen(line));
        if (element.children[at] !== row.element) this.put(element, row.element, at);
      });
    }
    say(this.count, urgent.length ? String(urgent.length) : "");
    this.empty.hidden = urgent.length > 0;
    this.below.hidden = hints.length === 0;
  }

  /** Moves a row and keeps the focus in it. */
  put(list, element, at) {
    const focused = element.contains(document.activeElement) ? document.activeElement : null;
    list.insertBefore(element, list.children[at] ?? null);
    focused?.focus({ preventScroll: true });
  }

  pass() {
    for (const row of this.rows.values()) row.pass();
  }

  /** Moves the focus by `by` lines. */
  step(by) {
    const links = [...this.element.querySelectorAll(".line")];
    if (!links.length) return;
    const at = links.indexOf(document.activeElement);
    const current = at >= 0 ? at : links.findIndex((link) => link.getAttribute("aria-current"));
    const to = current < 0 ? (by > 0 ? 0 : links.length - 1) : Math.max(0, Math.min(links.length - 1, current + by));
    links[to].focus();
  }

  /** Returns the focus to the line of a board. */
  focus(board) {
    const row = [...this.rows.values()].find(({ line }) => line.board === board);
    (row?.link ?? this.title).focus();
  }
}
