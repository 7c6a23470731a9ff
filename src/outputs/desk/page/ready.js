// Problems to solve before a round, as sentences, for each step of the set-up.

import { tableName } from "/page/tables.js";
import { byTable, isPlaying } from "./lines.js";
import { SQUARES } from "./squares.js";
import { fill, shownTime, words } from "./words.js";

/** The first six names, and the number of the others. */
export function some(names) {
  const shown = names.slice(0, 6).join(", ");
  return names.length > 6 ? fill(words.setup.more, { names: shown, n: names.length - 6 }) : shown;
}

function named(boards) {
  return some(boards.map(({ board }) => board));
}

export function ofBoards(boards, { tables }) {
  const { wrong } = words.setup;
  const found = [];
  if (!boards.length) return [wrong.noBoards];
  const gone = boards.filter(({ connected }) => !connected);
  if (gone.length) found.push(fill(wrong.gone, { boards: named(gone) }));
  const without = boards.filter(({ stands_at: at }) => at === null);
  if (without.length) found.push(fill(wrong.noTable, { boards: named(without) }));
  const standing = byTable(boards);
  for (const [table, there] of standing) {
    if (there.length > 1) found.push(fill(wrong.sameTable, { table: tableName(table), boards: named(there) }));
  }
  const bare = tables.filter(({ table }) => !standing.has(table)).map(({ table }) => tableName(table));
  if (bare.length) found.push(fill(wrong.noBoard, { tables: some(bare) }));
  return found;
}

export function ofPairings({ tables }, files) {
  const { wrong } = words.setup;
  if (files?.error) return [fill(wrong.unread, { error: files.error })];
  if (!tables.length) return [wrong.noPairings];
  return files?.lost ? [fill(wrong.findings, { n: files.lost })] : [];
}

/** Number of a board's squares that were tested. */
export function tested(tests, board) {
  return SQUARES.length - tests.missing(board).length;
}

/** Null while no board is connected, as nothing was checked then. */
export function ofSquares(boards, tests) {
  const there = boards.filter(({ connected }) => connected);
  if (!there.length) return null;
  const open = there.filter(({ board }) => tests.missing(board).length);
  const counts = open.map(({ board }) => fill(words.setup.boards.testedOf, { board, n: tested(tests, board) }));
  return open.length ? [fill(words.setup.wrong.untested, { boards: some(counts) })] : [];
}

/** Null while no board is connected. */
export function ofClocks(boards) {
  const { wrong } = words.setup;
  const there = boards.filter(({ connected }) => connected);
  if (!there.length) return null;
  const without = there.filter(({ lever }) => lever === null);
  const unsure = there.filter(({ lever, white_side: side }) => lever !== null && side === null);
  const found = [];
  if (without.length) found.push(fill(wrong.noClock, { boards: named(without) }));
  if (unsure.length) found.push(fill(wrong.noSide, { boards: named(unsure) }));
  const other = there.filter(({ clock_fits: fits }) => fits === false);
  const shown = other.map(({ board, standing_ms: [left, right], time_control: control }) => {
    const time = left === right ? shownTime(left) : `${shownTime(left)} · ${shownTime(right)}`;
    return fill(wrong.shows, { board, time, control });
  });
  if (other.length) found.push(fill(wrong.otherTime, { boards: some(shown) }));
  return found;
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

export function ofOutputs(status) {
  if (!status) return [];
  const found = [];
  for (const [name, kept] of [["journal", status.journal], ["recordings", status.recordings]]) {
    if (kept?.problem) found.push(`${words.setup.outputs[name]}: ${kept.problem}`);
  }
  for (const [name, { problems = [] }] of Object.entries(status.outputs ?? {})) {
    for (const problem of problems) found.push(`${name === "broker" ? words.setup.outputs.broker : name}: ${problem}`);
  }
  if (status.broker === false && !status.outputs?.broker?.problems) found.push(words.setup.wrong.broker);
  return found;
}

/** Boards on which the round can begin: connected, at a table with a pairing, and without a game in progress. */
export function waiting(boards, { tables }) {
  const paired = new Set(tables.map(({ table }) => table));
  return boards.filter((status) => status.connected && paired.has(status.stands_at) && !isPlaying(status));
}
