// The incidents of a past game, each with its evidence.

import { make, say } from "/page/dom.js";
import { Evidence, told as toldMoment } from "./evidence.js";
import { sign } from "./list.js";
import { fill, numberOf, time, words } from "./words.js";

const RANK = ["violation", "advice", "hint", "info"];

/** Converts an incident of a report to the form of a board status: with its opening time and its last ending. */
function known(incident) {
  const { opened, closed } = incident;
  const all = closed.map(({ ts, ...one }) => ({ ...one, closed: ts }));
  const decisions = all.filter((one) => one.decided_by);
  return { ...incident, since: opened, closed: undefined, ...all.at(-1), decisions };
}

export class Incidents {
  /** `show` is called with the contents of the diagram: {placement, marks, text}. */
  constructor(show) {
    this.show = show;
    /** Elements of the incidents and the data that they show, by incident number. */
    this.folds = new Map();
    this.pointed = null;
    this.heading = make("h3", "", {}, words.review.incidents);
    this.element = make("section", "part", {}, this.heading);
  }

  /** Shows the incidents of a game. Keeps the elements of unchanged incidents, and keeps opened incidents open. */
  update({ record, incidents, offences, advice_in: texts }) {
    this.status = { game: record, offences };
    const all = incidents.map((incident) => known({ ...incident, advice_in: texts[incident.incident] }));
    const sorted = all.sort((one, other) => RANK.indexOf(one.severity) - RANK.indexOf(other.severity));
    const before = this.folds;
    const shown = sorted.map((incident) => {
      const text = JSON.stringify([incident, offences]);
      const old = before.get(incident.incident);
      return [incident.incident, old?.text === text ? old : this.again(incident, text, old)];
    });
    this.folds = new Map(shown);
    const focused = this.element.contains(document.activeElement) ? document.activeElement : null;
    const number = [...before].find(([, { element }]) => element.contains(focused))?.[0];
    const none = make("p", "quiet", {}, words.review.noIncidents);
    this.element.replaceChildren(this.heading, ...(shown.length ? shown.map(([, { element }]) => element) : [none]));
    if (!focused) return;
    const to = focused.isConnected ? focused : this.folds.get(number)?.element.querySelector("summary");
    to?.focus({ preventScroll: true });
  }

  /** Creates the element of a new or changed incident. */
  again(incident, text, old) {
    const element = this.fold(incident);
    if (old?.evidence && old.evidence === this.pointed) this.pointed = null;
    const fold = { element, text, evidence: null };
    element.open = old?.element.open ?? false;
    element.addEventListener("toggle", () => {
      if (!element.open || fold.evidence) return;
      fold.evidence = this.open(incident);
      element.append(make("div", "folded", {}, fold.evidence.element, fold.evidence.beside));
    });
    return fold;
  }

  fold(incident) {
    const { game } = this.status;
    const { kind, color, ply, severity } = incident;
    const text = [words.kinds[kind] ?? kind, color && words[color], words.severity[severity]].filter(Boolean).join(" · ");
    const where = ply ? ` ${fill(words.review.atMove, { move: numberOf(game, ply) })}` : "";
    const summary = make("summary", "", {}, sign(severity), make("span", "", {}, text + where));
    return make("details", "fold incident-of", { name: "incident" }, summary);
  }

  open(incident) {
    const evidence = new Evidence((at) => this.moment(evidence, at));
    evidence.update(incident, this.status, incident.closed !== undefined);
    // For a past game, the time of day is more useful than the age.
    say(evidence.since, ` ${time(incident.since)}`);
    return evidence;
  }

  moment(evidence, at) {
    if (!evidence.moments.length) return;
    const to = Math.max(0, Math.min(at, evidence.moments.length - 1));
    const moment = evidence.moments[to];
    this.rest();
    this.pointed = evidence;
    evidence.point(to);
    const text = fill(words.views.momentText, { at: time(moment.at, true), what: toldMoment(moment) });
    this.show({ placement: moment.placement, marks: new Map([[moment.square, "concerned"]]), text });
  }

  /** Removes the mark of the shown moment, as the diagram shows another position. */
  rest() {
    this.pointed?.point(null);
    this.pointed = null;
  }
}
