// What is done again as long as games go on.

/** Does something when it is called for, and not more often than the server and the reader can bear. */
export class Throttle {
  /** `act` comes `least` ms after it was called for, then rests as long, or `times` as long as it took. */
  constructor(act, least, times) {
    Object.assign(this, { act, least, times, isResting: false, isCalled: false, isOver: false });
  }

  call() {
    this.isCalled = true;
    if (!this.isResting) this.rest(this.least);
  }

  /** The same without waiting, for the first time. */
  now() {
    this.isCalled = true;
    return this.run();
  }

  /** Nothing is done any more. */
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

/** Of all boards, which games there are, who plays, and whether they are over: what a list of games shows. */
export function gamesOf(boards) {
  const games = [...boards.values()].map(({ game }) => game).filter(Boolean);
  const known = games.map(({ game, players, ended, result, confirmed }) => [game, players, ended, result, confirmed]);
  return JSON.stringify(known);
}

/** The board on which a game is played, or was played last; null: there is none. */
export function boardOf(boards, id) {
  return [...boards.values()].find(({ game }) => game?.game === id) ?? null;
}

/** Whether something about the game of a board is new: both are boards as they were told. */
export function isOther(one, other) {
  return ["game", "incidents", "past"].some((field) => one?.[field] !== other?.[field]);
}

/** Whether a record lacks something of a game that goes on: the journal has it a moment later. */
export function isBehind({ moves, ended }, game) {
  return moves.length !== game.moves.length || ended !== game.ended || moves.some(({ uci }, at) => uci !== game.moves[at].uci);
}
