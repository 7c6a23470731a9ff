// The list of lines that need a person.

import { now } from "/page/clock.js";
import { button, draw, make, mark, say } from "/page/dom.js";
import { Going } from "./going.js";
import { ago, place, titleOf, words } from "./words.js";

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
  return line.href ?? (line.board === null ? "#/" : address(line.board, line.incident));
}

/** A line: about one board, or about several with a common cause, each of which has a link. */
class Row {
  constructor(acts, isOfMany) {
    this.sign = make("span", "at");
    this.place = make("b", "place");
    this.kind = make("span", "kind");
    this.since = make("span", "since");
    this.word = make("span", "word");
    this.isNew = make("span", "new", {}, words.unseen);
    this.text = make("span", "text");
    this.what = make("span", "what", {}, this.kind, " ", this.text);
    const head = make("span", "row-head", {}, this.place, this.word, this.isNew, this.since);
    this.link = make(isOfMany ? "div" : "a", "line", {}, this.sign, make("span", "row", {}, head, this.what));
    this.check = button("check", words.checked, "✓", () => acts.check(this.line));
    this.going = new Going(acts.attend, acts.user);
    this.members = make("ul", "members", { "aria-label": words.together.members, hidden: "" });
    this.element = make("li", "", {}, this.link, this.check, this.members, this.going.element);
    this.link.addEventListener("click", () => acts.see(this.line));
  }

  update(line, memory, chosen) {
    this.line = line;
    if (this.severity !== line.severity) {
      this.severity = line.severity;
      this.sign.replaceChildren(sign(line.severity));
      this.element.className = line.severity;
    }
    if (line.members) this.drawMembers(line, chosen);
    else {
      mark(this.link, "href", addressOf(line));
      mark(this.link, "aria-current", chosen(line) ? "true" : null);
    }
    say(this.place, place(line));
    say(this.word, words.severity[line.severity]);
    say(this.kind, titleOf(line));
    say(this.text, line.text);
    // Nobody can be sent to a hall that cannot be reached, and a missing result is entered here.
    if (line.hall || line.href) this.going.element.hidden = true;
    else this.going.update(line);
    this.isNew.hidden = memory.hasSeen(line);
    this.element.classList.toggle("seen", this.isNew.hidden);
    this.element.classList.toggle("ends", line.ends !== null);
    this.check.hidden = !line.mayCheck;
    this.pass();
  }

  drawMembers({ members }, chosen) {
    this.members.hidden = false;
    const key = JSON.stringify(members.map((one) => [one.key, place(one), chosen(one)]));
    if (key === this.shownMembers) return;
    this.shownMembers = key;
    const focused = this.members.contains(document.activeElement) ? document.activeElement.getAttribute("href") : null;
    this.members.replaceChildren(
      ...members.map((one) => {
        const link = make("a", "member", { href: address(one.board, one.incident) }, place(one));
        mark(link, "aria-current", chosen(one) ? "true" : null);
        return make("li", "", {}, link);
      }),
    );
    if (focused) [...this.members.querySelectorAll("a")].find((one) => one.getAttribute("href") === focused)?.focus({ preventScroll: true });
  }

  pass() {
    say(this.since, ago(this.line.since, now()));
    if (!this.line.hall && !this.line.href) this.going.pass();
  }
}

export class List {
  /**
   * `acts` has the functions `see` and `check`, which are called with a line, `attend`, which is called with a line and
   * whether the user goes there, and `user`, the user's name, null if read-only.
   */
  constructor(memory, acts) {
    this.memory = memory;
    this.acts = acts;
    this.rows = new Map();
    this.title = make("h2", "", { id: "needed", tabindex: "-1" });
    this.count = make("span", "count");
    this.title.append(words.needed, " ", this.count);
    this.urgent = make("ol", "lines", { "aria-labelledby": "needed" });
    this.empty = make("p", "quiet", {}, words.nothing);
    // While a round is prepared, what the set-up lacks.
    this.before = make("p", "before", { hidden: "" });
    this.below = make("h3", "", { id: "hints" }, words.hintsBelow);
    this.hints = make("ol", "lines", { "aria-labelledby": "hints" });
    this.element = make("section", "needs", { "aria-labelledby": "needed" });
    this.element.append(this.title, this.before, this.empty, this.urgent, this.below, this.hints);
  }

  /**
   * `chosen` returns whether a line is the opened one. `lacks` has the names of the steps of the set-up that are not in
   * order, and `mayPrepare` is whether the user has the set-up.
   */
  update(all, chosen, lacks = [], mayPrepare = false) {
    this.updateBefore(lacks, mayPrepare);
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
          row = new Row(this.acts, Boolean(line.members));
          this.rows.set(line.key, row);
        }
        row.update(line, this.memory, chosen);
        if (element.children[at] !== row.element) this.put(element, row.element, at);
      });
    }
    say(this.count, urgent.length ? String(urgent.length) : "");
    this.count.className = `count ${urgent[0]?.severity ?? ""}`;
    this.empty.hidden = urgent.length > 0 || lacks.length > 0;
    this.below.hidden = hints.length === 0;
  }

  updateBefore(lacks, mayPrepare) {
    const key = JSON.stringify([lacks, mayPrepare]);
    if (key === this.lacks) return;
    this.lacks = key;
    this.before.hidden = lacks.length === 0;
    // Untested squares are a matter of their own only once boards and pairings are in order.
    const graver = lacks.filter((step) => step !== "squares");
    const text = words.before[(graver.length ? graver : lacks).join("_")] ?? "";
    this.before.replaceChildren(mayPrepare ? make("a", "", { href: "#/setup" }, text) : text);
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
    const links = [...this.element.querySelectorAll("a.line, a.member")];
    if (!links.length) return;
    const at = links.indexOf(document.activeElement);
    const current = at >= 0 ? at : links.findIndex((link) => link.getAttribute("aria-current"));
    const to = current < 0 ? (by > 0 ? 0 : links.length - 1) : Math.max(0, Math.min(links.length - 1, current + by));
    links[to].focus();
  }

  /** Returns the focus to the line of a board. */
  focus(board) {
    const rows = [...this.rows.values()];
    const row = rows.find(({ line }) => line.board === board);
    const member = rows.flatMap(({ members }) => [...members.querySelectorAll("a")]).find((one) => one.getAttribute("href").startsWith(address(board)));
    (row?.link ?? member ?? this.title).focus();
  }
}
