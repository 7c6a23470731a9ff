// What the boards show, as it happens, and the commands that go back.

import { HEADERS, ask, current } from "./session.js";
import { words } from "./words.js";

/** Who hears nothing for this long has no connection. The stream says something every 15 s. */
const SILENCE = 40000;
/** So long after an answer failed to come the same command is sent again. */
const AGAIN = [500, 1500, 3000, 5000, 8000];
const PAUSE = 3000;

/** A board with what is new of it. Times are numbers inside the page. */
function read(news, known = {}) {
  const { clock } = news;
  if (clock) clock.as_of = clock.as_of === null ? null : Date.parse(clock.as_of);
  const status = { ...known, ...news };
  const differed = known.differs?.length ? known.differsSince : Date.now();
  status.differsSince = status.differs.length ? differed : null;
  status.awaySince = status.away ? known.awaySince ?? Date.now() : null;
  return status;
}

export class DeskSource {
  /** `shown` is called with the name of a board that changed, null for all; `left` when the session is over. */
  constructor(shown, left) {
    this.shown = shown;
    this.left = left;
    this.boards = new Map();
    /** Who is to play whom in the round. */
    this.pairings = { round: null, rounds: [], tables: [] };
    /** Is called when those are others. */
    this.paired = null;
    /** Is called with a board, the squares that lost their piece, and those that got one. */
    this.touched = null;
    this.isReady = false;
    /** Whether the disk has all that is shown. */
    this.isKept = true;
    this.heardAt = Date.now();
    this.isFailing = false;
    this.stream = null;
    /** Is called when the connection has failed. */
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

  /** Since when nothing has come, in milliseconds since 1970; null while all is well. */
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
    // A line that died without a word is opened anew.
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
    // A line that is opened gets its time before it is taken for dead.
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
    hear("board", ({ emptied = [], filled = [], ...status }) => {
      const hasMoved = !this.boards.has(status.board) || "table" in status;
      this.boards.set(status.board, read(status, this.boards.get(status.board)));
      if (hasMoved) this.compare();
      if (emptied.length || filled.length) this.touched?.(status.board, emptied, filled);
      this.shown(hasMoved ? null : status.board);
    });
    hear("pairings", (pairings) => {
      this.pairings = pairings;
      this.paired?.();
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
    stream.onerror = () => {
      if (this.stream !== stream) return;
      this.fail();
      if (stream.readyState === EventSource.CLOSED) this.refused();
    };
  }

  /** Notes which boards share the number of their table, as those of two halls may. */
  compare() {
    const counts = new Map();
    for (const { table } of this.boards.values()) counts.set(table, (counts.get(table) ?? 0) + 1);
    for (const status of this.boards.values()) status.isShared = status.table !== null && counts.get(status.table) > 1;
  }

  /** The stream was refused: the session may be over, or the server busy. */
  async refused() {
    this.close();
    const session = await current().catch(() => undefined);
    if (session === null) {
      this.left();
      return;
    }
    clearTimeout(this.later);
    this.later = setTimeout(() => this.again(), PAUSE);
  }

  /** Gives a command; returns its answer: {ok, note, error, kept}; `kept` is false until the disk has the command. */
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
        // A hub has waited itself; what never came there is sent once more.
        const isOver = told.why && (told.why !== "silent" || hasWaited);
        hasWaited = true;
        // A server that is being started again has not taken it; the same id does nothing twice.
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
