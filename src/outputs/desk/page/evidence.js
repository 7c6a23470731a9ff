// One incident: kind, evidence and advice.

import { now } from "/page/clock.js";
import { button, make, say } from "/page/dom.js";
import { sign } from "./list.js";
import { difference, moments } from "./position.js";
import { Times } from "./times.js";
import { adviceOf, ago, closing, edition, fill, piece, sentences, shownTime, time, titleOf, words } from "./words.js";

/** Describes a change of a square. */
export function told({ square, piece: set, was }) {
  if (set) return fill(words.moments.set, { square, piece: piece(set) });
  return was ? fill(words.moments.lifted, { square, piece: piece(was) }) : fill(words.moments.emptied, { square });
}

/** Describes how an incident ended, with earlier decisions that were replaced. */
function settled(incident) {
  const before = (incident.decisions ?? []).slice(0, -1);
  const replaced = before.map((one) => fill(words.opened.decidedBefore, { at: time(one.closed), how: closing(one) }));
  const values = { how: closing(incident), at: incident.closed ? time(incident.closed) : "" };
  return [fill(incident.closed ? words.opened.settledAt : words.opened.settledAlready, values), ...replaced].join(" ");
}

export class Evidence {
  /** `show` is called with the index of the moment to show on the diagram. */
  constructor(show) {
    this.show = show;
    this.sign = make("span", "at");
    this.kind = make("h3", "", { tabindex: "-1" });
    this.word = make("span", "word");
    this.since = make("span", "since");
    this.over = make("p", "over", { hidden: "" });
    this.advice = make("div", "advice");
    this.article = make("p", "article");
    this.count = make("p", "count");
    this.times = new Times();
    this.facts = make("p", "facts");
    this.list = make("ol", "moments", { "aria-label": words.moments.title });
    this.list.addEventListener("click", (event) => {
      const at = event.target.closest("[data-at]")?.dataset.at;
      if (at) show(Number(at));
    });
    const keys = make(
      "div",
      "keys",
      {},
      button("", words.moments.back, "←", () => show(this.at === null ? this.moments.length - 1 : this.at - 1)),
      button("", words.moments.on, "→", () => show((this.at ?? -1) + 1)),
    );
    this.trace = make("details", "trace", { open: "" }, make("summary", "", {}, words.moments.title), this.list, keys);
    /** Elements for actions, in the order in which they are needed: who goes there, the position, the decision. */
    this.first = make("div", "");
    this.restoring = make("div", "restoring");
    this.deeds = make("div", "deeds");
    const head = make("div", "case-head", {}, this.sign, make("div", "", {}, this.kind, make("p", "small", {}, this.word, this.since)));
    const about = make("div", "about-case", {}, this.article, this.count);
    this.element = make("section", "case", {}, head, this.over, this.first, this.advice, this.restoring);
    this.element.append(this.times.element, this.deeds, about);
    /** Element to place beside the diagram. */
    this.beside = make("div", "beside", {}, this.facts, this.trace);
    this.at = null;
    this.moments = [];
  }

  /** Shows an incident. `isOver` is whether it is closed. */
  update(incident, status, isOver) {
    const isOther = this.incident?.incident !== incident.incident;
    this.incident = incident;
    const { severity, article, evidence } = incident;
    const { values = {} } = evidence;
    this.times.update(values, status);
    const key = JSON.stringify([incident, isOver, status.offences]);
    if (key === this.shown) return;
    this.shown = key;
    this.element.className = `case ${isOver ? "past" : severity}`;
    this.sign.replaceChildren(sign(severity));
    say(this.kind, titleOf(incident));
    say(this.word, words.severity[severity]);
    this.over.hidden = !isOver;
    say(this.over, isOver ? settled(incident) : "");
    this.drawAdvice(adviceOf(incident));
    say(this.article, article ? fill(words.opened.article, { article, edition: edition(incident.edition) }) : words.opened.noArticle);
    this.drawCount(incident, status.offences, values);
    const facts = [
      incident.squares.length && fill(words.opened.squares, { squares: incident.squares.join(", ") }),
      fill(words.opened.from, { from: time(evidence.from, true), to: time(evidence.to, true) }),
      evidence.clock &&
        fill(words.opened.showed, { white: shownTime(evidence.clock.white_ms), black: shownTime(evidence.clock.black_ms) }),
    ];
    say(this.facts, facts.filter(Boolean).join(" · "));
    this.drawMoments(incident, status.game);
    if (isOther) this.point(null);
    this.pass();
  }

  drawCount({ color }, offences, { offence, loses_at: loses }) {
    const name = words[color] ?? "";
    let text = "";
    if (offence && color) text = fill(loses ? words.opened.offenceOf : words.opened.offence, { n: offence, loses, color: name });
    const counted = offences.white || offences.black || offence ? fill(words.opened.counted, offences) : "";
    say(this.count, [text, counted].filter(Boolean).join(" "));
  }

  /** Shows the advice: what happened, and what to do in steps. */
  drawAdvice(text) {
    const [happened, ...steps] = sentences(text);
    const list = make("ol", "advised", {}, ...steps.map((step) => make("li", "", {}, step)));
    this.advice.replaceChildren(make("p", "happened", {}, happened), ...(steps.length ? [" ", list] : []));
  }

  drawMoments(incident, game) {
    this.moments = moments(incident, game);
    this.trace.hidden = this.moments.length === 0;
    this.list.replaceChildren(
      ...this.moments.map((moment, at) => {
        const when = make("span", "times", {}, time(moment.at, true));
        return make("li", "", {}, make("button", "moment", { type: "button", "data-at": at }, when, told(moment)));
      }),
    );
    this.point(this.at);
  }

  /** Marks the moment that the diagram shows; null for none. */
  point(at) {
    this.at = at;
    for (const one of this.list.querySelectorAll("button")) {
      const isNow = Number(one.dataset.at) === at;
      one.classList.toggle("now", isNow);
      if (isNow) {
        one.setAttribute("aria-current", "true");
        this.list.scrollTop = one.parentElement.offsetTop - this.list.clientHeight / 2;
      } else one.removeAttribute("aria-current");
    }
  }

  /** Updates age and clocks; returns whether a clock shows tenths of a second. */
  pass() {
    if (this.incident) say(this.since, ` ${fill(words.since, { time: ago(Date.parse(this.incident.since ?? this.incident.evidence.from), now()) })}`);
    return this.times.pass();
  }

  /** Squares to mark on the diagram, with their CSS classes. */
  marks() {
    return new Map(this.incident.squares.map((square) => [square, "concerned"]));
  }
}

/** Squares on which board and game differ, with their CSS class. */
export function differing(status) {
  const { placement: shown, game_placement: expected, differs } = status;
  const squares = differs ?? (expected ? difference(shown, expected) : []);
  return new Map(squares.map((square) => [square, "differs"]));
}
