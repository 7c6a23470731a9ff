// Lines about all boards that need a person: the gravest first, then the oldest.

import { adviceOf, fill, firstSentence, numbered, result, words } from "./words.js";

const RANK = { violation: 0, advice: 1, hint: 2 };
/** Time in milliseconds after which an unsettled move is listed. The last move has longer, as a reply may settle it. */
const UNSURE = 60000;
const UNSURE_LAST = 180000;
const KEPT = 500;

/** Whether a game is in progress. */
export function isPlaying(status) {
  return status.game !== null && status.game.ended === null;
}

/** Plies in doubt: those that were inferred, or are unsettled although they are not the last. */
export function doubtful(status) {
  const { moves = [] } = status.game ?? {};
  const last = moves.at(-1)?.ply;
  return moves.filter((one) => one.inferred || (one.settled === null && one.ply !== last));
}

/** Names at most three plies of a list. */
function some(game, plies) {
  const shown = plies.slice(0, 3).map(({ ply }) => numbered(game, ply));
  return plies.length > 3 ? `${shown.join(", ")}, …` : shown.join(", ");
}

/** Lines that were seen or checked in this browser, and the times at which lines were first noticed. */
export class Memory {
  constructor() {
    this.first = new Map();
    this.seen = new Set(this.recall("desk-seen"));
    this.checked = new Set(this.recall("desk-checked"));
  }

  recall(name) {
    try {
      return JSON.parse(localStorage.getItem(`kiebitz-${name}`) ?? "[]");
    } catch {
      return [];
    }
  }

  keep(name, set) {
    try {
      localStorage.setItem(`kiebitz-${name}`, JSON.stringify([...set].slice(-KEPT)));
    } catch {
      // Without storage, the value lasts until the page is closed.
    }
  }

  see(key) {
    if (this.seen.has(key)) return;
    this.seen.add(key);
    this.keep("desk-seen", this.seen);
  }

  check(key) {
    this.checked.add(key);
    this.keep("desk-checked", this.checked);
  }

  /** Time at which a line was first noticed. */
  since(key, now) {
    if (!this.first.has(key)) this.first.set(key, now);
    return this.first.get(key);
  }
}

function line(status, of) {
  const { board, table, isShared } = status;
  return { board, table, isShared, incident: null, color: null, ...of };
}

function ofBoard(status, memory, now) {
  const { board, game, incidents } = status;
  const found = incidents
    .filter(({ severity }) => severity in RANK)
    .map((incident) =>
      line(status, {
        // An incident that becomes graver counts as new.
        key: `${board} ${incident.incident} ${incident.severity}`,
        kind: incident.kind,
        severity: incident.severity,
        since: Date.parse(incident.since ?? incident.evidence.from),
        text: firstSentence(adviceOf(incident)),
        color: incident.color,
        incident: incident.incident,
      }),
    );
  const derived = (kind, severity, about, text, wait = 0) => {
    const key = `${board} ${kind} ${about}`;
    const since = memory.since(key, now);
    if (memory.checked.has(key) || now - since < wait) return;
    found.push(line(status, { key, kind, severity, since, text, mayCheck: severity === "hint" }));
  };
  if (!game) return found;
  const isGone = !status.connected && !status.away && isPlaying(status);
  if (isGone && !incidents.some(({ kind }) => kind === "board_disconnected")) {
    derived("board_disconnected", "advice", game.game, words.lines.gone);
  }
  const inferred = game.moves.filter((one) => one.inferred && one.settled !== "arbiter");
  if (inferred.length) {
    const plies = inferred.map(({ ply, uci }) => `${ply}${uci}`).join();
    derived("doubtful", "hint", `${game.game} ${plies}`, fill(words.lines.inferred, { moves: some(game, inferred) }));
  }
  if (isPlaying(status)) {
    const unsure = game.moves.filter((one) => one.settled === null && !one.inferred);
    const isLast = unsure.length === 1 && unsure[0].ply === game.moves.length;
    if (unsure.length) {
      const about = `${game.game} unsettled ${unsure[0].ply}${unsure[0].uci}`;
      const wait = isLast ? UNSURE_LAST : UNSURE;
      derived("doubtful", "hint", about, fill(words.lines.unsettled, { moves: some(game, unsure) }), wait);
    }
  }
  if (game.result !== "*" && !game.confirmed) {
    const values = { result: result(game.result), reason: words.reasons[game.reason] ?? game.reason ?? "" };
    derived("unconfirmed", "hint", `${game.game} ${game.result}`, fill(words.lines.unconfirmed, values));
  }
  return found;
}

/** One line for each hall whose daemon is offline during games, for all its boards. */
function ofHalls(statuses) {
  const halls = new Map();
  for (const status of statuses) {
    if (!status.away || !isPlaying(status)) continue;
    halls.set(status.away, [...(halls.get(status.away) ?? []), status]);
  }
  return [...halls].map(([hall, boards]) => {
    const since = Math.min(...boards.map(({ awaySince }) => awaySince));
    const text = fill(words.lines.away, { n: boards.length });
    return line(boards[0], { key: `${hall} hall_away `, hall, kind: "hall_away", severity: "advice", since, text });
  });
}

/** All lines, sorted. `others` are lines that are not about one board. */
export function lines(boards, memory, now, others = []) {
  const statuses = [...boards];
  const all = [...statuses.flatMap((status) => ofBoard(status, memory, now)), ...ofHalls(statuses), ...others];
  return all.sort((one, other) => RANK[one.severity] - RANK[other.severity] || one.since - other.since);
}
