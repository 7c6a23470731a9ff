// Repeated actions while games are in progress.

/** Runs an action on request, but not so often that it strains server or reader. */
export class Throttle {
  /** Runs `act` `least` ms after a call, then pauses for `least` ms, or `times` the duration of the run if longer. */
  constructor(act, least, times) {
    Object.assign(this, { act, least, times, isResting: false, isCalled: false, isOver: false });
  }

  call() {
    this.isCalled = true;
    if (!this.isResting) this.rest(this.least);
  }

  /** Runs the action without delay, for the first run. */
  now() {
    this.isCalled = true;
    return this.run();
  }

  /** Stops all further runs. */
  stop() {
    this.isOver = true;
    clearTimeout(this.timer);
  }

  rest(ms) {
    this.isResting = true;
    this.timer = setTimeout(() => this.run(), ms);
  }

  async run() {
    this.isResting = this.isCalled;
    if (!this.isCalled) return;
    this.isCalled = false;
    const began = performance.now();
    try {
      await this.act();
    } finally {
      if (!this.isOver) this.rest(Math.max(this.least, (performance.now() - began) * this.times));
    }
  }
}

/** Key for the data of the boards' games that a list of games shows. */
export function gamesOf(boards) {
  const games = [...boards.values()].map(({ game }) => game).filter(Boolean);
  const known = games.map(({ game, players, ended, result, confirmed }) => [game, players, ended, result, confirmed]);
  return JSON.stringify(known);
}

/** The board whose current or last game has this id; null if there is none. */
export function boardOf(boards, id) {
  return [...boards.values()].find(({ game }) => game?.game === id) ?? null;
}

/** Whether the game data of two statuses of a board differ. */
export function isOther(one, other) {
  return ["game", "incidents", "past"].some((field) => one?.[field] !== other?.[field]);
}

/** Whether a record from the journal lacks data of the live game, as the journal is slightly behind. */
export function isBehind({ moves, ended }, game) {
  return moves.length !== game.moves.length || ended !== game.ended || moves.some(({ uci }, at) => uci !== game.moves[at].uci);
}
