// History of decisions and entries about the game of the opened board.

import { make } from "/page/dom.js";
import { told, undoing } from "./deed.js";
import { address } from "./list.js";
import { closing, decided, fill, numbered, result, time, words } from "./words.js";

/** Whether an arbiter has set the current result. */
function standsByArbiter(game, results) {
  return game?.by === "arbiter" && game.ended !== null && (results ?? []).length > 0;
}

/** Decisions in a board's status, as a list of {at, text, href}, the oldest first. */
function known({ board, game, past, results }) {
  const of = (incident, one) => ({
    at: one.closed ?? incident.evidence.to,
    text: fill(words.past.incident, { kind: words.kinds[incident.kind] ?? incident.kind, how: closing(one) }),
    href: address(board, incident.incident),
  });
  // Replaced decisions are listed too.
  const found = past.flatMap((incident) => {
    const decisions = incident.decisions ?? [];
    return decisions.length ? decisions.map((one) => of(incident, one)) : [of(incident, incident)];
  });
  // The current result comes last, after those that it replaced.
  for (const { at, by, result: set, reason } of (results ?? []).slice(0, standsByArbiter(game, results) ? -1 : undefined)) {
    const text = reason ? fill(words.past.resultSet, { result: decided(`${set} ${reason}`) }) : words.deeds.goOn;
    found.push({ at, by, text });
  }
  for (const { at, by, text } of game?.notes ?? []) found.push({ at, by, text: fill(words.past.note, { text }) });
  found.sort((one, other) => Date.parse(one.at) - Date.parse(other.at));
  for (const { ply, fen } of game?.positions ?? []) {
    found.push({ text: fill(words.past.position, { move: numbered(game, ply) }), more: fen });
  }
  const entered = (game?.moves ?? []).filter(({ settled }) => settled === "arbiter");
  if (entered.length) {
    const moves = entered.map(({ ply }) => numbered(game, ply)).join(", ");
    found.push({ text: fill(words.past.entered, { moves }) });
  }
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
      ...found.map(({ at, by, text, href, more }) => {
        const when = make("span", "times", {}, [at && time(at), by].filter(Boolean).join(" · "));
        const what = href ? make("a", "", { href }, text) : make("span", "", {}, text);
        return make("li", "", {}, when, what, ...(more ? [make("code", "", {}, more)] : []));
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
