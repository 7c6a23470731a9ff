// History of a past game: corrections, withdrawn moves and commands, with times and authors.

import { make } from "/page/dom.js";
import { tableName } from "/page/tables.js";
import { closing, fill, move, numberOf, result, shownTime, time, words } from "./words.js";

/** Formats consecutive plies, as in "3... a6 4. Ba4 Nf6". */
function line(game, plies) {
  const named = plies.map(({ ply, san, uci }, at) => {
    const number = numberOf(game, ply);
    const text = san ? move(san) : uci ?? "–";
    return at > 0 && number.endsWith("..") ? text : `${number} ${text}`;
  });
  return named.join(" ");
}

function correction(game, { ts, withdrawn, played, reason }) {
  const why = words.review.corrections[reason] ?? reason;
  const gone = line(game, withdrawn);
  const values = { gone, played: played ? line(game, [played]) : "", why };
  const text = fill(played ? (gone ? words.review.replaced : words.review.added) : words.review.withdrawn, values);
  return { at: ts, by: null, text };
}

/** Formats the arguments of a command that are of interest to people. */
export function details(given, action) {
  if (action === "set_players") {
    const { white, black } = given ?? {};
    return `${white ?? words.nobody} – ${black ?? words.nobody}`;
  }
  if (action === "set_result") {
    const { result: of, reason, signed } = given ?? {};
    const parts = [result(of ?? "*") || words.round.noResult, reason && (words.reasons[reason] ?? reason), signed && words.round.signed];
    return parts.filter(Boolean).join(", ");
  }
  const all = Object.entries(given ?? {}).filter(([field]) => !["game", "incident", "from"].includes(field));
  const shown = all.map(([field, value]) => {
    if (field === "color" || field === "white") return words[value] ?? words.deeds[value] ?? value;
    if (field === "kind") return words.claims[value] ?? value;
    if (field === "counts") return value ? words.past.counts : words.past.countsNot;
    if (field === "reason") return words.reasons[value] ?? value;
    if (field === "table") return tableName(value);
    if (Array.isArray(value)) return value.join(" ");
    return ["string", "number"].includes(typeof value) ? String(value) : "";
  });
  return shown.filter(Boolean).join(", ");
}

function amendment({ what, ts, by, action, arguments: given, error, note }) {
  // A change of the game repeats the command that caused it.
  if (what !== "command") return null;
  const text = [words.actions[action] ?? action, details(given, action)].filter(Boolean).join(": ");
  const answer = error ? fill(words.deeds.failed, { error }) : note ?? "";
  return { at: ts, by, text: answer ? `${text} (${answer})` : text };
}

function note({ what, ts, by, changes, reason, by_ms: ms }) {
  const text = words.review.notes[what === "gap" ? `gap_${by}` : what] ?? what;
  return { at: ts, by: null, text: fill(text, { n: changes, reason, time: shownTime(Math.abs(ms ?? 0)) }) };
}

/** All entries, the oldest first. */
function known({ record, corrections, amendments, notes, incidents, decided_by: decidedBy }) {
  const found = corrections.map((one) => correction(record, one));
  found.push(...amendments.map(amendment).filter(Boolean), ...notes.map(note));
  for (const { kind, closed } of incidents) {
    for (const one of closed.filter(({ by }) => by === "arbiter")) {
      const how = closing(one);
      found.push({ at: one.ts, by: null, text: fill(words.past.incident, { kind: words.kinds[kind] ?? kind, how }) });
    }
  }
  if (record.ended) {
    // A result entered after the game has the time of its entry.
    const entered = decidedBy && amendments.findLast(({ action, by, error }) => action === "set_result" && by === decidedBy && !error);
    const reason = words.reasons[record.reason] ?? record.reason ?? "";
    const by = words.past.by[record.by] ?? record.by ?? "";
    const text = fill(words.past.result, { result: result(record.result) || "*", reason, by });
    found.push({ at: entered?.ts ?? record.ended, by: decidedBy, text: `${text}, ${record.confirmed ? words.past.confirmed : words.past.notConfirmed}` });
  }
  return found.sort((one, other) => Date.parse(one.at) - Date.parse(other.at));
}

export class Versions {
  constructor(told) {
    const rows = known(told).map(({ at, by, text }) => {
      const when = make("span", "times", {}, [time(at), by].filter(Boolean).join(" · "));
      return make("li", "", {}, when, make("span", "", {}, text));
    });
    const list = rows.length ? make("ol", "versions", {}, ...rows) : make("p", "quiet", {}, words.past.none);
    this.element = make("section", "part versions-of", {}, make("h3", "", {}, words.review.versions), list);
  }
}
