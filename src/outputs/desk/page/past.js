// History of decisions and entries about the game of the opened board.

import { make } from "/page/dom.js";
import { told, undoing } from "./deed.js";
import { address } from "./list.js";
import { details } from "./versions.js";
import { closing, fill, numberOf, result, time, titleOf, words } from "./words.js";

/** Whether an arbiter has set the current result. */
function standsByArbiter(game, results) {
  return game?.by === "arbiter" && game.ended !== null && (results ?? []).length > 0;
}

/** Commands that decide an incident. They are listed with the incident. */
const DECIDING = ["close_incident", "decide_claim"];

/** Formats a command about a game. */
function entry(game, { do: action, arguments: given }) {
  if (action === "annotate") return fill(words.past.note, { text: given.text });
  if (action === "set_result" && given.result === "*") return words.deeds.goOn;
  const what = details(given, action);
  const from = action === "correct_moves" ? `${numberOf(game, given.from ?? 1)} ` : "";
  return [words.actions[action] ?? action, what && `${from}${what}`].filter(Boolean).join(": ");
}

/** What was decided and entered, as a list of {at, by, text, href}, the oldest first. */
function known({ board, game, incidents, past, results, commands }) {
  const of = (incident, one) => ({
    at: one.closed ?? incident.evidence.to,
    by: one.decided_by ?? null,
    text: fill(words.past.incident, { kind: titleOf(incident), how: closing({ ...one, decided_by: null }) }),
    href: address(board, incident.incident),
  });
  // Replaced decisions are listed too.
  const found = past.flatMap((incident) => {
    const decisions = incident.decisions ?? [];
    return decisions.length ? decisions.map((one) => of(incident, one)) : [of(incident, incident)];
  });
  const isListed = ({ incident }) => [...incidents, ...past].some((one) => one.incident === incident);
  const entered = commands.filter((one) => !DECIDING.includes(one.do) || !isListed(one.arguments));
  const isResult = (one) => one.do === "set_result" && one.arguments.result !== "*";
  // The current result comes last, with the facts about it.
  const current = standsByArbiter(game, results) ? entered.findLast(isResult) : null;
  for (const one of entered) if (one !== current) found.push({ at: one.at, by: one.by, text: entry(game, one) });
  found.sort((one, other) => Date.parse(one.at) - Date.parse(other.at));
  if (game?.ended) {
    const by = standsByArbiter(game, results) ? results.at(-1).by : words.past.by[game.by] ?? game.by ?? "";
    const reason = words.reasons[game.reason] ?? game.reason ?? "";
    const text = fill(words.past.result, { result: result(game.result) || "*", reason, by });
    const at = standsByArbiter(game, results) ? results.at(-1).at : game.ended;
    found.push({ at, text: `${text}, ${game.confirmed ? words.past.confirmed : words.past.notConfirmed}` });
  }
  return found;
}

export class Past {
  constructor(context) {
    this.context = context;
    this.jobs = [];
    this.empty = make("p", "quiet", {}, words.past.none);
    this.list = make("ol", "versions");
    this.here = make("ol", "versions");
    this.hereTitle = make("h4", "", { hidden: "" }, words.past.here);
    this.element = make("section", "versions-of", {}, make("h3", "", {}, words.past.title));
    this.element.append(this.empty, this.list, this.hereTitle, this.here);
  }

  update(status) {
    const found = known(status);
    const key = JSON.stringify(found);
    if (key === this.shown) return;
    this.shown = key;
    this.list.replaceChildren(
      ...found.map(({ at, by, text, href }) => {
        const when = make("span", "times", {}, [at && time(at), by].filter(Boolean).join(" · "));
        const what = href ? make("a", "", { href }, text) : make("span", "", {}, text);
        return make("li", "", {}, when, what);
      }),
    );
    this.drawEmpty();
  }

  /** Adds a command that was sent from this page. */
  add(job) {
    const undo = job.undo ? [" ", undoing(this.context, job)] : [];
    const when = make("span", "times", {}, time(job.at));
    this.here.append(make("li", "", {}, when, make("span", "", {}, `${job.label}. ${told(job.answer)}`, ...undo)));
    this.hereTitle.hidden = false;
    this.drawEmpty();
  }

  drawEmpty() {
    this.empty.hidden = this.list.children.length + this.here.children.length > 0;
  }
}
