// Problems to solve before a round, for each step of the set-up.

import { tableName } from "/page/tables.js";
import { problemsOf } from "./before.js";
import { isPlaying } from "./lines.js";
import { SQUARES } from "./squares.js";
import { controlText, fill, nameAtTable, shownTime, words } from "./words.js";

/** The first six names, and the number of the others. */
export function some(names) {
  const shown = names.slice(0, 6).join(", ");
  return names.length > 6 ? fill(words.setup.more, { names: shown, n: names.length - 6 }) : shown;
}

function named(boards) {
  return some(boards.map(nameAtTable));
}

/**
 * A problem, as {grade, text, short}. With the grade "stop" the round cannot begin, with "look" it can. `text` says what
 * to do, `short` names the problem in the list of all steps.
 */
function problem(grade, name, values = {}) {
  const { short, wrong } = words.setup;
  return { grade, text: fill(wrong[name], values), short: fill(short[name], values) };
}

/** A problem about these boards; none without boards. */
function about(boards, name, names = named(boards)) {
  return boards.length ? [problem("look", name, { boards: names, n: boards.length })] : [];
}

export function ofBoards(boards, pairings) {
  if (!boards.length) return [problem("stop", "noBoards")];
  const { gone, loose, shared, bare } = problemsOf(boards, pairings);
  const found = [...about(gone, "gone"), ...about(loose, "noTable")];
  for (const [table, there] of shared) {
    const names = some(there.map(({ board }) => board));
    found.push(problem("look", "sameTable", { table: tableName(table), boards: names }));
  }
  const tables = some(bare.map(({ table }) => tableName(table)));
  if (bare.length) found.push(problem("look", "noBoard", { tables, n: bare.length }));
  return found;
}

/**
 * `files` is what the server says about the pairing files; null while unknown, and at a hub. `reading` is the name of a
 * file that is being read, or null.
 */
export function ofPairings({ rounds, tables }, files, reading, isHub) {
  // Without a round, none can begin.
  const grade = rounds.length ? "look" : "stop";
  if (isHub) return rounds.length ? [] : [problem(grade, "noPairingsHub")];
  if (files?.error) return [problem(grade, "unread", { error: files.error })];
  if (!tables.length) return [reading === null ? problem(grade, "noPairings") : problem(grade, "reading", { name: reading })];
  return files?.lost ? [problem("look", "findings", { n: files.lost })] : [];
}

/** Number of a board's squares that were tested. */
export function tested(tests, board) {
  return SQUARES.length - tests.missing(board).length;
}

/** Null while no board is connected, as nothing was checked then. */
export function ofSquares(boards, pairings, tests) {
  const { there, untested } = problemsOf(boards, pairings);
  if (!there.length) return null;
  const counts = untested.map((status) => fill(words.setup.boards.testedOf, { board: nameAtTable(status), n: tested(tests, status.board) }));
  return about(untested, "untested", some(counts));
}

/** Null while no board is connected. */
export function ofClocks(boards, pairings) {
  const { there, clockless, unsure, different } = problemsOf(boards, pairings);
  if (!there.length) return null;
  const shown = different.map((status) => {
    const [left, right] = status.standing_ms;
    const time = left === right ? shownTime(left) : `${shownTime(left)} · ${shownTime(right)}`;
    return fill(words.setup.wrong.shows, { board: nameAtTable(status), time, control: controlText(status.time_control) });
  });
  return [...about(clockless, "noClock"), ...about(unsure, "noSide"), ...about(different, "otherTime", some(shown))];
}

/** Describes what was checked, for each step without problems. */
export function checked(boards, { round, tables }, status) {
  const { checked: said } = words.setup;
  const there = boards.filter(({ connected }) => connected);
  const fitting = there.filter(({ clock_fits: fits }) => fits === true).length;
  const outputs = Object.keys(status?.outputs ?? {}).length + [status?.journal, status?.recordings].filter(Boolean).length;
  return {
    boards: fill(said.boards, { n: there.length, fitting }),
    pairings: fill(said.pairings, { n: tables.length, round: round ?? "–" }),
    squares: fill(said.squares, { n: there.length }),
    outputs: fill(said.outputs, { n: outputs }),
  };
}

/** Null while the status is unknown. */
export function ofOutputs(status) {
  if (!status) return null;
  const found = [];
  for (const [name, kept] of [["journal", status.journal], ["recordings", status.recordings]]) {
    if (kept?.problem) found.push(`${words.setup.outputs[name]}: ${kept.problem}`);
  }
  for (const [name, { problems = [] }] of Object.entries(status.outputs ?? {})) {
    for (const problem of problems) found.push(`${name === "broker" ? words.setup.outputs.broker : name}: ${problem}`);
  }
  if (status.broker === false && !status.outputs?.broker?.problems) found.push(words.setup.wrong.broker);
  return found.map((text) => ({ grade: "look", text, short: text }));
}

/** Boards on which the round can begin: connected, at a table with a pairing, and without a game in progress. */
export function waiting(boards, { tables }) {
  const paired = new Set(tables.map(({ table }) => table));
  return boards.filter((status) => status.connected && paired.has(status.stands_at) && !isPlaying(status));
}
