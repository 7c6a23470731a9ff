// Lines about all boards that need a person: the gravest first, then the oldest.

import { tableName } from "/page/tables.js";
import { sheet } from "./asked.js";
import { adviceOf, controlText, count, ending, fill, firstSentence, numbered, result, shortTime, shownTime, words } from "./words.js";

export const RANK = { violation: 0, advice: 1, hint: 2 };
/** Kinds that are one line if several boards have them at the same time, as they then have a common cause. */
const TOGETHER = ["board_disconnected", "clock_disconnected", "late_start"];
/** Largest pause in milliseconds between two incidents with a common cause, and the fewest boards of such a line. */
const TOGETHER_WITHIN = 15000;
const TOGETHER_FROM = 3;
/** Number of results of a round, shown by the boards only, above which they are one line that leads to the sheet. */
const SEPARATE = 4;
/** Time in milliseconds after which an unsettled move is listed. The last move has longer, as a reply may settle it. */
const UNSURE = 60000;
const UNSURE_LAST = 180000;
/** Time in milliseconds for which a clock shows the wrong time before it is listed, as it may just be being set. */
const SETTING = 10000;
const KEPT = 500;

/** Whether a game is in progress. */
export function isPlaying(status) {
  return status.game !== null && status.game.ended === null;
}

/** Groups boards by table. */
export function byTable(boards) {
  const tables = new Map();
  for (const status of boards) {
    if (status.stands_at === null) continue;
    tables.set(status.stands_at, [...(tables.get(status.stands_at) ?? []), status]);
  }
  return tables;
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

/** Lines that were seen or checked in this browser. */
export class Memory {
  constructor() {
    this.seen = new Set(this.recall("desk-seen"));
    this.checked = new Set(this.recall("desk-checked"));
    /** Times at which conditions without a time of their own were first seen, by their keys. */
    this.first = new Map();
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

  /** Time at which a condition was first seen. */
  since(key, now) {
    if (!this.first.has(key)) this.first.set(key, now);
    return this.first.get(key);
  }

  /** Whether a line was seen, or every line that it stands for. */
  hasSeen(one) {
    return keysOf(one).every((key) => this.seen.has(key));
  }
}

/** The lines about one board each for which a line stands. `members` are shown in it, `singles` are not. */
export function singlesOf(one) {
  return one.members ?? one.singles ?? [one];
}

/** The keys of a line, or of the lines that it stands for. */
export function keysOf(one) {
  return singlesOf(one).map(({ key }) => key);
}

function line(status, of) {
  const { board, table, isShared, port, game } = status;
  const going = status.going.filter(({ incident }) => incident === (of.incident ?? null));
  return { board, table, isShared, port, incident: null, color: null, ends: null, game: game?.game ?? null, going, ...of };
}

/** Time at which a ply was made, in milliseconds since 1970. */
function madeAt({ game, made }, ply) {
  return Date.parse(made[ply - 1] ?? game.started);
}

function ofBoard(status, memory, now, awaits) {
  const { board, game, incidents } = status;
  // Players may play several games after that of the round. Only the question about the last one is listed.
  const second = incidents.findLast(({ kind }) => kind === "second_game");
  const found = incidents
    .filter(({ severity }) => severity in RANK)
    .filter((incident) => incident.kind !== "second_game" || incident === second)
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
        evidence: incident.evidence,
        ends: ending(incident),
      }),
    );
  const derived = (kind, severity, about, text, since, wait = 0, more = {}) => {
    const key = `${board} ${kind} ${about}`;
    if (memory.checked.has(key) || now - since < wait) return;
    found.push(line(status, { key, kind, severity, since, text, mayCheck: severity === "hint" || kind === "clock_setting", ...more }));
  };
  // Two different times are left over from a game; equal ones were set, to a wrong time.
  const [left, right] = status.standing_ms ?? [];
  if (status.connected && status.stands_at !== null && status.clock_fits === false && left === right) {
    const values = { time: shownTime(left), control: controlText(status.time_control) };
    const about = `${left} ${status.time_control}`;
    const since = memory.since(`${board} clock_setting ${about}`, now);
    derived("clock_setting", "advice", about, fill(words.lines.setting, values), since, SETTING);
  }
  const isLost = !status.connected && !status.away && !isPlaying(status);
  if (isLost && awaits(status) && !incidents.some(({ kind }) => kind === "board_disconnected")) {
    const since = status.gone_since ? Date.parse(status.gone_since) : memory.since(`${board} board_disconnected`, now);
    derived("board_disconnected", "advice", `table ${status.stands_at}`, words.lines.goneBefore, since);
  }
  if (!game) return found;
  const isGone = !status.connected && !status.away && isPlaying(status);
  if (isGone && !incidents.some(({ kind }) => kind === "board_disconnected")) {
    const since = status.gone_since ? Date.parse(status.gone_since) : madeAt(status, game.moves.length);
    derived("board_disconnected", "advice", game.game, words.lines.gone, since);
  }
  const inferred = game.moves.filter((one) => one.inferred && one.settled !== "arbiter");
  if (inferred.length) {
    const plies = inferred.map(({ ply, uci }) => `${ply}${uci}`).join();
    derived("doubtful", "hint", `${game.game} ${plies}`, fill(words.lines.inferred, { moves: some(game, inferred) }), madeAt(status, inferred[0].ply));
  }
  if (isPlaying(status)) {
    const unsure = game.moves.filter((one) => one.settled === null && !one.inferred);
    const isLast = unsure.length === 1 && unsure[0].ply === game.moves.length;
    if (unsure.length) {
      const about = `${game.game} unsettled ${unsure[0].ply}${unsure[0].uci}`;
      const wait = isLast ? UNSURE_LAST : UNSURE;
      derived("doubtful", "hint", about, fill(words.lines.unsettled, { moves: some(game, unsure) }), madeAt(status, unsure[0].ply), wait);
    }
  }
  if (game.result !== "*" && !game.confirmed) {
    const values = { result: result(game.result), reason: words.reasons[game.reason] ?? game.reason ?? "" };
    derived("unconfirmed", "hint", `${game.game} ${game.result}`, fill(words.lines.unconfirmed, values), Date.parse(game.ended), 0, {
      round: game.players?.round ?? null,
    });
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
    const since = Math.min(...boards.map(({ away_since: at }) => Date.parse(at)));
    const text = fill(words.lines.away, { n: boards.length });
    return line(boards[0], { key: `${hall} hall_away `, hall, kind: "hall_away", severity: "advice", since, text });
  });
}

/**
 * Compares lines: one that ends its game comes first, then the graver one, then the one to which nobody goes, then the
 * older one.
 */
function order(one, other) {
  const rank = ({ severity, ends }) => (ends && severity === "violation" ? -1 : RANK[severity]);
  const isTaken = ({ going }) => Number(going.length > 0);
  return rank(one) - rank(other) || isTaken(one) - isTaken(other) || one.since - other.since;
}

/** Replaces lines with a common cause by one line for all of their boards. */
function together(all) {
  const left = all.filter(({ kind }) => !TOGETHER.includes(kind));
  for (const kind of TOGETHER) {
    const same = all.filter((one) => one.kind === kind && !one.hall).sort((one, other) => one.since - other.since);
    const groups = [];
    for (const one of same) {
      const last = groups.at(-1);
      const isNear = last && one.since - last.at(-1).since <= TOGETHER_WITHIN && one.severity === last[0].severity;
      if (isNear) last.push(one);
      else groups.push([one]);
    }
    for (const group of groups) {
      if (new Set(group.map(({ board }) => board)).size < TOGETHER_FROM) left.push(...group);
      else left.push(ofMany(kind, group));
    }
  }
  return left;
}

function ofMany(kind, group) {
  const [{ key, severity, since }] = group;
  const ports = new Set(group.map(({ port }) => port));
  const port = ports.size === 1 && group[0].port;
  const text = port && kind === "board_disconnected" ? fill(words.together.port, { port }) : words.together[kind];
  const members = [...group].sort((one, other) => (one.table ?? Infinity) - (other.table ?? Infinity) || one.since - other.since);
  const title = fill(words.together.title, { kind: words.kinds[kind], at: shortTime(since) });
  const going = group.flatMap((one) => one.going);
  return { key: `together ${key}`, kind, severity, since, text, title, members, going, board: null, incident: null, color: null, ends: null };
}

/** Replaces many results of a round that only the boards have shown by one line, which leads to the results. */
function ofSheet(all) {
  const rounds = new Map();
  for (const one of all) {
    if (one.kind === "unconfirmed" && one.round !== null) rounds.set(one.round, [...(rounds.get(one.round) ?? []), one]);
  }
  const grouped = [...rounds].filter(([, singles]) => singles.length > SEPARATE);
  const gone = new Set(grouped.flatMap(([, singles]) => singles));
  const found = grouped.map(([round, singles]) => {
    singles.sort((one, other) => (one.table ?? Infinity) - (other.table ?? Infinity));
    const tables = singles.map(({ table, board }) => (table === null ? board : tableName(table)));
    return line(singles[0], {
      key: `round ${round} unconfirmed`,
      kind: "unconfirmed",
      severity: "hint",
      title: words.round.shownTitle,
      since: Math.min(...singles.map(({ since }) => since)),
      text: fill(words.round.shownText, { tables: tables.join(", ") }),
      hall: count(words.round.several, singles.length, { round }),
      board: null,
      table: null,
      game: null,
      going: [],
      mayCheck: true,
      href: sheet(round),
      singles,
    });
  });
  return [...all.filter((one) => !gone.has(one)), ...found];
}

/**
 * All lines, sorted. `others` are lines that are not about one board; `awaits` returns whether a game of the round is
 * still to begin at the table of a board.
 */
export function lines(boards, memory, now, others = [], awaits = () => false) {
  const statuses = [...boards];
  const all = statuses.flatMap((status) => ofBoard(status, memory, now, awaits));
  return [...ofSheet(together(all)), ...ofHalls(statuses), ...others].sort(order);
}
