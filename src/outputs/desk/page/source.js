// Live updates of the boards, and commands to the server.

import { setHalls } from "/page/tables.js";
import { HEADERS, ask, current } from "./session.js";
import { words } from "./words.js";

/** Silence in milliseconds after which the connection counts as lost. The server sends a message every 15 s. */
const SILENCE = 40000;
/** Pauses in milliseconds before a command without an answer is sent again. */
const AGAIN = [500, 1500, 3000, 5000, 8000];
const PAUSE = 3000;

/** Merges an update into a board's status. Converts times to numbers. */
function read(news, known = {}) {
  const { clock } = news;
  if (clock) clock.as_of = clock.as_of === null ? null : Date.parse(clock.as_of);
  const status = { ...known, ...news };
  if ("clock_stopped" in news) status.stoppedSince = news.clock_stopped === null ? null : Date.parse(news.clock_stopped);
  return status;
}

/** Merges an update into a round. Its tables are a map by number, in order. */
function merge({ tables, without = [], ...news }, known) {
  const all = new Map(known?.tables);
  for (const table of without) all.delete(table);
  for (const one of tables) all.set(one.table, one);
  return { byes: known?.byes ?? [], ...news, tables: new Map([...all].sort(([one], [other]) => one - other)) };
}

export class DeskSource {
  /** `shown` is called with the name of a changed board, or null for all; `left` when the session has ended. */
  constructor(shown, left) {
    this.shown = shown;
    this.left = left;
    this.boards = new Map();
    /** Pairings of the round. */
    this.pairings = { round: null, rounds: [], tables: [] };
    /** All rounds with their tables, by number. They arrive after the boards. */
    this.rounds = new Map();
    this.hasRounds = false;
    /** Called when a round has changed. */
    this.roundsChanged = null;
    /** Called when the pairings have changed. */
    this.paired = null;
    this.isReady = false;
    /** Whether the journal has every event that is shown. */
    this.isKept = true;
    this.heardAt = Date.now();
    this.isFailing = false;
    this.stream = null;
    /** Called with the session when it may have changed. */
    this.entered = null;
    /** Called when the connection has failed or the value of `isKept` has changed. */
    this.troubled = null;
    this.timers = [];
    this.online = () => this.again();
    this.offline = () => this.fail();
  }

  start() {
    addEventListener("online", this.online);
    addEventListener("offline", this.offline);
    this.timers = [setInterval(() => this.watch(), 1000)];
    this.open();
  }

  stop() {
    removeEventListener("online", this.online);
    removeEventListener("offline", this.offline);
    for (const timer of this.timers) clearInterval(timer);
    clearTimeout(this.later);
    this.close();
  }

  /** Time of the last message if the connection is lost, in milliseconds since 1970; else null. */
  stale() {
    return this.isFailing || Date.now() - this.heardAt > SILENCE ? this.heardAt : null;
  }

  heard() {
    this.heardAt = Date.now();
    this.isFailing = false;
  }

  fail() {
    this.isFailing = true;
    this.troubled?.();
  }

  watch() {
    // Reconnect if the connection was lost without an error.
    if (this.stream && Date.now() - Math.max(this.heardAt, this.opened) > SILENCE) {
      this.fail();
      this.again();
    }
  }

  again() {
    clearTimeout(this.later);
    this.close();
    this.open();
  }

  close() {
    this.stream?.close();
    this.stream = null;
  }

  open() {
    const stream = new EventSource("/stream");
    this.stream = stream;
    // A new connection must not count as silent at once.
    this.opened = Date.now();
    const hear = (name, act) =>
      stream.addEventListener(name, (event) => {
        if (this.stream !== stream) return;
        this.heard();
        act(JSON.parse(event.data || "{}"));
      });
    hear("all", ({ boards, kept = true }) => {
      this.isKept = kept;
      this.boards = new Map(boards.map((status) => [status.board, read(status)]));
      this.compare();
      this.isReady = true;
      this.shown(null);
    });
    hear("board", (status) => {
      const hasMoved = !this.boards.has(status.board) || "table" in status;
      this.boards.set(status.board, read(status, this.boards.get(status.board)));
      if (hasMoved) this.compare();
      this.shown(hasMoved ? null : status.board);
    });
    hear("pairings", (pairings) => {
      this.pairings = pairings;
      this.paired?.();
      // All boards are named by their tables.
      if (setHalls(pairings.halls)) this.shown(null);
    });
    hear("rounds", ({ rounds }) => {
      this.rounds = new Map(rounds.map((one) => [one.round, merge(one)]));
      this.hasRounds = true;
      this.roundsChanged?.();
    });
    hear("round", ({ gone = false, ...news }) => {
      if (gone) this.rounds.delete(news.round);
      else this.rounds.set(news.round, merge(news, this.rounds.get(news.round)));
      this.roundsChanged?.();
    });
    hear("kept", ({ kept }) => {
      this.isKept = kept;
      this.troubled?.();
    });
    hear("gone", ({ board }) => {
      this.boards.delete(board);
      this.compare();
      this.shown(null);
    });
    hear("here", () => {});
    // The session has ended. A proxy may begin another one at once, possibly with another role.
    hear("over", () => this.refused());
    stream.onerror = () => {
      if (this.stream !== stream) return;
      this.fail();
      if (stream.readyState === EventSource.CLOSED) this.refused();
    };
  }

  /** Notes which boards share a table number, as boards of two halls may. */
  compare() {
    const counts = new Map();
    for (const { table } of this.boards.values()) counts.set(table, (counts.get(table) ?? 0) + 1);
    for (const status of this.boards.values()) status.isShared = status.table !== null && counts.get(status.table) > 1;
  }

  /** Handles a refused stream: the session may have ended, or the server may be busy. */
  async refused() {
    this.close();
    const session = await current().catch(() => undefined);
    if (session === null) {
      this.left();
      return;
    }
    this.entered?.(session);
    clearTimeout(this.later);
    this.later = setTimeout(() => this.again(), PAUSE);
  }

  /** Sends a command; returns its answer {ok, note, error, kept}. `kept` is false if the command is not stored yet. */
  async command(board, command) {
    const id = crypto.randomUUID?.() ?? [...crypto.getRandomValues(new Uint32Array(4))].map((one) => one.toString(16)).join("-");
    const body = JSON.stringify({ board, command: { id, ...command } });
    const headers = { ...HEADERS, "Content-Type": "application/json" };
    let hasWaited = false;
    for (const pause of [...AGAIN, null]) {
      try {
        const answer = await ask("/command", { method: "POST", headers, body });
        if (answer.status === 401) this.left();
        const told = await answer.json().catch(() => ({}));
        // A hub has already waited for its daemon. A command that got no answer there is sent once more.
        const isOver = told.why && (told.why !== "silent" || hasWaited);
        hasWaited = true;
        // A restarting server has not carried out the command. The id keeps it from being carried out twice.
        if (answer.status < 500 || isOver || pause === null) {
          return answer.ok ? told : { ok: false, note: null, error: told.error ?? `${answer.status}`, why: told.why, daemon: told.daemon };
        }
      } catch {
        if (pause === null) break;
      }
      await new Promise((done) => setTimeout(done, pause));
    }
    return { ok: false, note: null, error: words.noAnswer };
  }
}
