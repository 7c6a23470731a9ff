// The address of the page, which names an opened board, past games, the results of a round, or the set-up.

function decoded(name) {
  try {
    return decodeURIComponent(name);
  } catch {
    return name;
  }
}

/** The board and the number of the incident; each is null if the address does not name one. */
export function askedBoard() {
  const [, board, number] = /^#\/board\/([^/]+)(?:\/incident\/(\d+))?$/.exec(location.hash) ?? [];
  return { board: board === undefined ? null : decoded(board), number: number === undefined ? null : Number(number) };
}

/** The past game; `game` is null for the list. Null if the address is not about past games. */
export function askedGames() {
  if (/^#\/games\/?$/.test(location.hash)) return { game: null };
  const [, game] = /^#\/game\/([^/]+)$/.exec(location.hash) ?? [];
  return game === undefined ? null : { game: decoded(game) };
}

/** The round and the table. Null if the address is not about results. */
export function askedResults() {
  const [whole, round, table] = /^#\/results(?:\/(\d+)(?:\/(\d+))?)?\/?$/.exec(location.hash) ?? [];
  if (whole === undefined) return null;
  return { round: round === undefined ? null : Number(round), table: table === undefined ? null : Number(table) };
}

/** Address of the results of a round, or of one of its tables. */
export function sheet(round, table = null) {
  return `#/results/${round}${table === null ? "" : `/${table}`}`;
}

/** The step of the set-up; null for all of it. Undefined if the address is not about the set-up. */
export function askedStep() {
  const [whole, step = null] = /^#\/setup(?:\/([a-z]+))?\/?$/.exec(location.hash) ?? [];
  return whole === undefined ? undefined : step;
}

/** Whether the address names the set-up. */
export function isSetup() {
  return askedStep() !== undefined;
}
