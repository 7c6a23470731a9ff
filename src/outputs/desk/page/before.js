// What boards and pairings lack before a round. The list of lines needs it before the texts of the set-up are loaded.

import { byTable, isPlaying } from "./lines.js";

/** Boards with each problem; `shared` and `bare` have tables. */
export function problemsOf(boards, { tables }) {
  const there = boards.filter(({ connected }) => connected);
  const standing = byTable(boards);
  return {
    there,
    gone: boards.filter(({ connected }) => !connected),
    loose: boards.filter(({ stands_at: at }) => at === null),
    shared: [...standing].filter(([, some]) => some.length > 1),
    bare: tables.filter(({ table }) => !standing.has(table)),
    clockless: there.filter(({ lever }) => lever === null),
    unsure: there.filter(({ lever, white_side: side }) => lever !== null && side === null),
    different: there.filter(({ clock_fits: fits }) => fits === false),
    untested: there.filter(({ squares }) => !isTested(squares)),
  };
}

/** Whether all squares of a board were emptied and filled. The server sends a digit for each square. */
function isTested(squares) {
  return /^3{64}$/.test(squares ?? "");
}

/** Whether a round is being prepared: none has begun, and no game is in progress. */
export function isBefore({ boards, pairings, rounds, hasRounds }) {
  if (!hasRounds) return false;
  const all = [...boards.values()];
  const round = rounds.get(pairings.round);
  if (!round) return all.every(({ game }) => game === null);
  const hasResults = [...round.tables.values()].some(({ result, played }) => result !== null || played);
  return round.begun === null && !hasResults && !all.some(isPlaying);
}

/** Names of the steps of the set-up that are not in order before a round. A hub does not know clocks and squares. */
export function lacking(source, isHub) {
  if (!isBefore(source)) return [];
  const boards = [...source.boards.values()];
  const found = problemsOf(boards, source.pairings);
  const ofHall = isHub ? [] : [found.clockless, found.unsure, found.different];
  const ofBoards = [found.gone, found.loose, found.shared, found.bare, ...ofHall];
  const lacks = {
    boards: !boards.length || ofBoards.some((some) => some.length),
    pairings: isHub ? !source.pairings.rounds.length : !source.pairings.tables.length,
    squares: !isHub && found.untested.length > 0,
  };
  return Object.keys(lacks).filter((step) => lacks[step]);
}
