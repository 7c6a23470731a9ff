// The incidents of a past game, each with its evidence.

import { make, say } from "/page/dom.js";
import { Evidence, told as toldMoment } from "./evidence.js";
import { sign } from "./list.js";
import { fill, numberOf, time, words } from "./words.js";

const RANK = ["violation", "advice", "hint", "info"];

/** An incident as the desk knows it: with when it was opened, and how it was last closed. */
function known(incident) {
  const { opened, closed } = incident;
  const { ts, by, reason, counts, decision } = closed.at(-1) ?? {};
  return { ...incident, since: opened, closed: ts, by, reason, counts, decision };
}

export class Incidents {
  /** `show` gets what the diagram is to show: {placement, marks, text}. */
  constructor({ record, incidents, offences }, show) {
    this.picture = { game: record, offences };
    this.show = show;
    const sorted = incidents.map(known).sort((one, other) => RANK.indexOf(one.severity) - RANK.indexOf(other.severity));
    const none = make("p", "quiet", {}, words.review.noIncidents);
    const list = sorted.length ? sorted.map((incident) => this.fold(incident)) : [none];
    this.element = make("section", "part", {}, make("h3", "", {}, words.review.incidents), ...list);
  }

  fold(incident) {
    const { game } = this.picture;
    const { kind, color, ply, severity } = incident;
    const text = [words.kinds[kind] ?? kind, color && words[color], words.severity[severity]].filter(Boolean).join(" · ");
    const where = ply ? ` ${fill(words.review.atMove, { move: numberOf(game, ply) })}` : "";
    const summary = make("summary", "", {}, sign(severity), make("span", "", {}, text + where));
    const element = make("details", "fold incident-of", { name: "incident" }, summary);
    element.addEventListener("toggle", () => {
      if (element.open && !element.querySelector(".case")) element.append(...this.open(incident));
    });
    return element;
  }

  open(incident) {
    const evidence = new Evidence((at) => this.moment(evidence, at));
    evidence.update(incident, this.picture, incident.closed !== undefined);
    // How long ago it was says nothing any more.
    say(evidence.since, ` ${time(incident.since)}`);
    return [make("div", "folded", {}, evidence.element, evidence.beside)];
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

  /** The diagram shows something else. */
  rest() {
    this.pointed?.point(null);
    this.pointed = null;
  }
}
