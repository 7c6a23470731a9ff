// Everything that is not in order before a round: the problems of each step of the set-up, and their list.

import { make } from "/page/dom.js";
import { order } from "./room.js";
import { ofBoards, ofClocks, ofOutputs, ofPairings, ofSquares } from "./ready.js";
import { HEADERS, ask } from "./session.js";
import { Tests } from "./squares.js";
import { fill, words } from "./words.js";

/** Loads a resource of the desk; null if that fails. */
async function load(path) {
  const answer = await ask(path, { headers: HEADERS }).catch(() => null);
  return answer?.ok ? answer.json().catch(() => null) : null;
}

export class Readiness {
  constructor(source, isHub) {
    Object.assign(this, { source, isHub });
    this.tests = new Tests(source);
    /** Status of the outputs, and what the server says about the pairing files; each null while unknown. */
    this.status = null;
    this.files = null;
    /** Name of a pairing file that is being read; else null. */
    this.reading = null;
  }

  /** Loads what the updates of the boards do not contain. At a hub, that is known in the halls only. */
  async load() {
    if (this.isHub) return;
    [this.status, this.files] = await Promise.all([load("/status"), load("/pairings")]);
  }

  /** Problems by step, as {step: problems}. They are null while unknown. */
  problems() {
    const { pairings } = this.source;
    const boards = [...this.source.boards.values()].sort(order);
    const found = { boards: ofBoards(boards, pairings), pairings: ofPairings(pairings, this.files, this.reading, this.isHub) };
    if (this.isHub) return found;
    found.boards.push(...(ofClocks(boards, pairings) ?? []));
    return { ...found, squares: ofSquares(boards, pairings, this.tests), outputs: ofOutputs(this.status) };
  }

  /** Number of steps that are not in order or unknown. */
  open() {
    return Object.values(this.problems()).filter((found) => found === null || found.length).length;
  }
}

/** Address of a step of the set-up. */
function addressOf(step) {
  return `#/setup/${step}`;
}

/** The list of all problems, those that stop the round first. Each links to its step. */
export class Problems {
  constructor() {
    this.element = make("div", "open-points");
  }

  update(problems) {
    const { setup } = words;
    const points = Object.entries(problems).flatMap(([step, found]) =>
      (found ?? [{ grade: "look", short: setup.unknown }]).map(({ grade, short }) => [step, grade, short]),
    );
    const key = JSON.stringify(points);
    if (key === this.shown) return;
    this.shown = key;
    const stops = points.filter(([, grade]) => grade === "stop");
    const others = points.filter(([, grade]) => grade !== "stop");
    const title = stops.length ? setup.go.also : setup.go.advice;
    this.element.replaceChildren(...listed(setup.go.stops, "stops", stops), ...listed(title, "advice", others));
    this.element.hidden = points.length === 0;
  }
}

function listed(title, className, points) {
  if (!points.length) return [];
  const { steps } = words.setup;
  const entries = points.map(([step, , short]) => {
    const link = make("a", "", { href: addressOf(step) }, fill(words.setup.go.point, { step: steps[step], short }));
    link.addEventListener("click", () => {
      // A link to the address that is shown already does not change it.
      if (location.hash === addressOf(step)) dispatchEvent(new HashChangeEvent("hashchange"));
    });
    return make("li", "", {}, link);
  });
  return [make("p", className, {}, title), make("ul", className, {}, ...entries)];
}
