// The round: which games are finished, which results are missing, and the bar that shows it on every page of the desk.

import { button, make, say } from "/page/dom.js";
import { hallOf, tableName } from "/page/tables.js";
import { sheet } from "./asked.js";
import { byTable, isPlaying } from "./lines.js";
import { address } from "./list.js";
import { count, fill, hour, names, place, result, words } from "./words.js";

/** Time in milliseconds for which a clock must have stood in a game before its result counts as missing. */
const STOOD = 5 * 60 * 1000;
/** Number of tables that a fact of the bar names. The results sheet has the others. */
const NAMED = 6;
/** Number of plies below which a game that was not finished counts as a trial. */
const TRIAL = 10;
/** Number of missing results in a round above which they are one line of the queue. */
const SEPARATE = 4;

/** Results by forfeit: result, reason, and text. */
export const FORFEITS = [["1-0", "default", "+/–"], ["0-1", "default", "–/+"], ["0-0", "default", "–/–"]];

/** Formats a result with forfeits as signs. */
export function formatted({ result: of, reason }) {
  const forfeit = reason === "default" && FORFEITS.find(([one]) => one === of);
  return forfeit ? forfeit[2] : result(of);
}

/**
 * Returns the pairing of the table at which a board stands, as {seat, isOther, isAwaited, earlier, players}. `seat` is the
 * table in the round; null if the round does not have it. `isOther` is whether the board has another game than that of the
 * round, for example an analysis after the game. `isAwaited` is whether that is the game of the round before. `earlier` is
 * the round of a finished game if the next round is to come; else null.
 */
export function seated({ stands_at: at, game }, { rounds, pairings }) {
  const paired = () => pairings.tables.find(({ table }) => table === at) ?? null;
  const tables = rounds.get(pairings.round)?.tables;
  // Boards of two halls may stand at the same table. Then each game has a table of its own.
  const own = game && [...(tables?.values() ?? [])].find((one) => one.game === game.game);
  const seat = at === null ? null : own ?? tables?.get(at) ?? paired();
  const isNamed = Boolean(game?.players?.white || game?.players?.black);
  const round = game?.players?.round ?? null;
  const isEarlier = round !== null && pairings.round !== null && round !== pairings.round && !isPlaying({ game });
  // Once the round has begun, its players are awaited at the table.
  const isAwaited = isEarlier && seat !== null && Boolean(rounds.get(pairings.round)?.begun);
  const isOther = isAwaited || Boolean(game && !isNamed && seat && "game" in seat && seat.game !== game.game);
  const earlier = isEarlier && !isAwaited ? round : null;
  return { seat, isOther, isAwaited, earlier, players: game && !isOther ? game.players : seat };
}

/**
 * Returns whether the round has begun, but the game at the table of a board has not, and no connected board is at the
 * table.
 */
export function awaits(status, source) {
  const round = source.rounds.get(source.pairings.round);
  const { seat } = seated(status, source);
  const isDue = Boolean(round?.begun && seat && seat.result === null && !seat.over && !seat.played);
  return isDue && ![...source.boards.values()].some((one) => one.connected && one.stands_at === status.stands_at);
}

/** Time since which the clock stands in the game at a table, in milliseconds since 1970; null if it does not. */
export function stoodSince({ board, game, played, ended }, boards) {
  if (!game || !played || ended) return null;
  const status = boards.get(board);
  if (!status?.connected || status.game?.game !== game || !isPlaying(status) || status.stoppedSince === null) return null;
  // After a restart of kiebitz, the incident has the earlier time.
  const incident = status.incidents.find(({ kind }) => kind === "clock_stopped");
  const since = Date.parse(incident?.since ?? "");
  return Math.min(status.stoppedSince, Number.isNaN(since) ? Infinity : since);
}

/** Reason why the result of a table counts as missing, {text, since}; null if it does not. */
function missing(table, boards, now) {
  if (table.result !== null) return null;
  if (table.over) {
    const text = table.reason === "reset" ? words.round.setUp : words.round.over;
    return { text, since: Date.parse(table.ended) };
  }
  const since = stoodSince(table, boards);
  if (since === null || now - since < STOOD) return null;
  return { text: fill(words.round.stood, { time: hour(since, now) }), since: since + STOOD };
}

/** Tables of a round without a result. */
export function without(round) {
  return round ? [...round.tables.values()].filter(({ result }) => result === null) : [];
}

/** State of a round. */
export function facts(round, boards, now) {
  const tables = [...round.tables.values()];
  const standing = byTable(boards.values());
  const open = tables.filter(({ result }) => result === null);
  const lacking = open.filter((table) => missing(table, boards, now));
  const waiting = open.filter(({ played, over }) => !played && !over);
  const at = (one) => standing.get(one.table) ?? [];
  const isGone = ({ connected }) => !connected;
  const isLate = ({ incidents }) => incidents.some(({ kind }) => kind === "late_start");
  return {
    standing,
    all: tables.length,
    finished: tables.filter(({ result, over }) => result !== null || over).length,
    missing: lacking,
    // Before the round has begun, all boards wait.
    waiting: round.begun ? waiting.filter((one) => at(one).length && !at(one).some((status) => isLate(status) || isGone(status))) : [],
    bare: open.filter((one) => one.board === null && !at(one).length),
    late: open.flatMap(at).filter(isLate),
    // A board that another one has replaced is not missing.
    gone: open.filter((one) => at(one).every(isGone)).flatMap((one) => at(one).slice(0, 1)),
  };
}

/** Lines of the queue for results that are missing in the rounds up to `current`. */
export function missingLines({ rounds, boards, pairings }, now) {
  const found = [];
  for (const round of rounds.values()) {
    if (pairings.round !== null && round.round > pairings.round) continue;
    const of = [...round.tables.values()].map((table) => ({ table, why: missing(table, boards, now) })).filter(({ why }) => why);
    const common = { kind: "missing", severity: "advice", incident: null, color: null, isShared: false, ends: null, going: [] };
    if (of.length > SEPARATE) {
      const text = fill(words.round.severalText, { tables: some(of.map(({ table }) => tableName(table.table))) });
      const hall = count(words.round.several, of.length, { round: round.round });
      const since = Math.min(...of.map(({ why }) => why.since));
      found.push({ ...common, key: `round ${round.round} missing`, hall, board: null, table: null, since, text, href: sheet(round.round) });
      continue;
    }
    for (const { table, why } of of) {
      const key = `${table.game} missing`;
      const text = fill(words.round.line, { round: round.round, names: names({ players: table }), why: why.text });
      found.push({ ...common, key, board: table.board, table: table.table, since: why.since, text, href: sheet(round.round, table.table) });
    }
  }
  return rounds.size ? found : unpaired(boards, now);
}

/** Lines of the queue for tables of the round at which two halls have played. */
export function sharedLines({ rounds, pairings }) {
  const round = rounds.get(pairings.round);
  const found = [];
  for (const other of round?.tables.values() ?? []) {
    const hall = hallOf(other.table);
    const table = hall && !hall.named && round.tables.get(other.table - hall.base);
    if (!table) continue;
    const values = { table: table.table, round: round.round, other: tableName(other.table) };
    const common = { severity: "advice", incident: null, color: null, isShared: false, ends: null, going: [] };
    const since = Date.parse(round.begun ?? other.ended) || 0;
    const text = fill(words.round.sharedText, values);
    found.push({ ...common, key: `round ${round.round} shared ${other.table}`, kind: "shared_table", board: other.board, table: other.table, since, text });
  }
  return found;
}

/** Lines for results that are missing if there are no pairings. */
function unpaired(boards, now) {
  const found = [];
  for (const { board, table, isShared, game, going: all } of boards.values()) {
    if (!game) continue;
    const played = game.moves.length > 0;
    const over = game.reason === "reset" && game.moves.length >= TRIAL;
    const why = missing({ ...game, board, result: game.result === "*" ? null : game.result, played, over }, boards, now);
    if (!why) continue;
    const text = fill(words.round.lineUnpaired, { why: why.text });
    const key = `${game.game} missing`;
    const going = all.filter(({ incident }) => incident === null);
    found.push({ key, kind: "missing", severity: "advice", incident: null, color: null, ends: null, going, board, table, isShared, since: why.since, text });
  }
  return found;
}

function some(tables) {
  const shown = tables.slice(0, NAMED).join(", ");
  return tables.length > NAMED ? `${shown}, …` : shown;
}

/** A fact of the bar, with a link for each of its tables. */
class Fact {
  constructor(how, texts) {
    this.texts = texts;
    this.text = make("span", "");
    this.links = make("span", "round-links");
    this.element = make("li", `round-fact ${how}`, { hidden: "" }, this.text, " ", this.links);
  }

  /** `links` is a list of [text, label, address]; `rest` is the address of those that are not named. */
  update(links, rest) {
    this.element.hidden = links.length === 0;
    say(this.text, count(this.texts, links.length));
    const key = JSON.stringify([links, rest]);
    if (key === this.key) return;
    this.key = key;
    const shown = links.slice(0, NAMED).map(([text, label, href]) => make("a", "", { href, "aria-label": label }, text));
    const others = links.length - shown.length;
    if (others) shown.push(make("a", "", { href: rest, "aria-label": fill(words.round.othersLabel, { n: others }) }, `+${others}`));
    this.links.replaceChildren(...shown);
  }
}

export class RoundBar {
  /** `begin` opens the form that begins a round; null if the user may not begin rounds. */
  constructor(source, begin) {
    this.source = source;
    const { round } = words;
    this.name = make("b", "round-name");
    this.begun = make("span", "round-begun");
    this.first = make("a", "round-first", { href: "#/setup", hidden: "" }, round.first);
    this.finished = make("a", "round-finished");
    this.missing = make("a", "chip warn round-missing");
    this.before = make("a", "chip warn round-before");
    this.line = make("p", "round-line", {}, this.name, this.begun, this.first, this.finished, this.missing, this.before);
    this.facts = {
      late: new Fact("bad", round.late),
      gone: new Fact("bad", round.gone),
      waiting: new Fact("", round.waiting),
      bare: new Fact("", round.bare),
    };
    const list = make("ul", "round-facts", {}, ...Object.values(this.facts).map(({ element }) => element));
    this.results = make("a", "to-results", {}, round.results);
    this.begin = begin && button("begin-round", round.begin, round.begin, begin);
    const tools = make("div", "round-tools", {}, this.results, ...(begin ? [this.begin] : []));
    this.more = make("div", "round-more", {}, list, tools);
    this.element = make("section", "round", { "aria-label": words.round.title, hidden: "" }, this.line, this.more);
    // Other sticky parts of the page stay below the bar.
    this.sizes = new ResizeObserver(() => {
      const isWhole = getComputedStyle(this.element).display !== "contents";
      const { offsetHeight } = isWhole ? this.element : this.line;
      document.documentElement.style.setProperty("--bar", `${offsetHeight}px`);
    });
    for (const element of [this.element, this.line]) this.sizes.observe(element);
  }

  stop() {
    this.sizes.disconnect();
    this.element.remove();
    document.documentElement.style.removeProperty("--bar");
  }

  update(now) {
    const { rounds, boards, pairings, hasRounds } = this.source;
    this.element.hidden = !hasRounds;
    if (!hasRounds) return;
    const round = rounds.get(pairings.round);
    const texts = words.round;
    say(this.name, round ? fill(texts.name, { round: round.round }) : texts.none);
    say(this.begun, round ? (round.begun ? fill(texts.begun, { time: hour(round.begun, now) }) : texts.notBegun) : texts.noneText);
    this.first.hidden = Boolean(round) || !this.begin;
    const state = round ? facts(round, boards, now) : { standing: new Map(), all: 0, finished: 0, missing: [], waiting: [], bare: [], late: [], gone: [] };
    this.finished.hidden = !round;
    this.results.hidden = rounds.size === 0;
    this.results.href = round ? sheet(round.round) : "#/results";
    this.finished.href = this.results.href;
    say(this.finished, fill(texts.finished, { n: state.finished, all: state.all }));
    this.missing.hidden = state.missing.length === 0;
    if (round && state.missing.length) {
      this.missing.href = sheet(round.round, state.missing[0].table);
      say(this.missing, count(texts.missing, state.missing.length));
    }
    this.updateBefore(pairings.round);
    const ofBoard = (status) => [status.stands_at === null ? status.board : tableName(status.stands_at), place(status), address(status.board)];
    const ofTable = (one) => {
      const [status] = state.standing.get(one.table) ?? [];
      const href = status ? address(status.board) : sheet(round.round, one.table);
      return [tableName(one.table), `${words.table} ${tableName(one.table)}`, href];
    };
    const rest = this.results.href;
    this.facts.late.update(state.late.map(ofBoard), rest);
    this.facts.gone.update(state.gone.map(ofBoard), rest);
    this.facts.waiting.update(state.waiting.map(ofTable), rest);
    this.facts.bare.update(state.bare.map(ofTable), rest);
    if (this.begin) this.begin.hidden = rounds.size === 0 || pairings.rounds.length === 0;
  }

  /** Results that are missing in an earlier round. */
  updateBefore(current) {
    const earlier = [...this.source.rounds.values()].filter(({ round }) => current !== null && round < current);
    const found = earlier.map((round) => [round.round, without(round)]).filter(([, open]) => open.length);
    const [round, open] = found.sort(([one], [other]) => other - one)[0] ?? [];
    this.before.hidden = round === undefined;
    if (round === undefined) return;
    this.before.href = sheet(round, open[0].table);
    say(this.before, count(words.round.before, open.length, { round }));
  }
}
