// Reads the games: from files, and from a stream of changes if the server has one.

import { compare } from "./clock.js";
import { setHalls } from "./tables.js";

const POLL = 3000;
/** Silence after which the stream counts as lost, in milliseconds. The server sends something every 15 s. */
const SILENCE = 40000;
const MISSED_POLLS = 12000;
/** Pause before the stream is tried again after a refusal, in milliseconds. */
const REFUSED = 60000;

export class Source {
  /** `shown` is called with each change: {list: true} or {round, games}, with indices of games; null for all games. */
  constructor(shown) {
    this.shown = shown;
    this.list = null;
    this.rounds = new Map();
    this.wanted = null;
    this.heardAt = Date.now();
    this.failedSince = null;
    this.texts = new Map();
    this.version = null;
    this.stream = null;
    this.waiting = null;
    /** Messages about a round that arrive while its file is being read. */
    this.reading = new Map();
    this.timer = 0;
  }

  start() {
    addEventListener("online", () => this.again());
    addEventListener("offline", () => this.failed());
    document.addEventListener("visibilitychange", () => {
      if (!document.hidden && !this.stream) this.again();
    });
    setInterval(() => this.watch(), 1000);
    return this.again();
  }

  /** The time of the last message if the connection is lost, in milliseconds since 1970; otherwise null. */
  stale() {
    const limit = this.stream ? SILENCE : MISSED_POLLS;
    const silent = !document.hidden && Date.now() - this.heardAt > limit;
    const failing = this.failedSince !== null && Date.now() - this.failedSince > 1500;
    return silent || failing ? this.heardAt : null;
  }

  /** Makes a round the wanted one, and reads it if needed. */
  async want(round) {
    this.wanted = round;
    if (!this.rounds.has(round)) await this.attempt(() => this.readRound(round));
  }

  /** Reads the moves of a game; null if they are not published or not there yet. */
  async moves(round, number) {
    const text = await this.read(`round-${round}/board-${number}.json`);
    return text === null ? null : JSON.parse(text);
  }

  /** Reads the standings; null if there are none. */
  async standings() {
    const text = await this.read("standings.json");
    return text === null ? null : JSON.parse(text);
  }

  /** Reads the players with their games; null if none is known. */
  async players() {
    const text = await this.read("players.json");
    return text === null ? null : JSON.parse(text);
  }

  heard() {
    this.heardAt = Date.now();
    this.failedSince = null;
  }

  failed() {
    this.failedSince ??= Date.now();
  }

  watch() {
    // A connection that died silently is opened again.
    if (this.stream && !document.hidden && Date.now() - this.heardAt > SILENCE) {
      this.failed();
      this.close();
      this.later(0);
    }
  }

  later(pause) {
    clearTimeout(this.timer);
    this.timer = setTimeout(() => this.again(), pause);
  }

  /** Reads all files needed, then opens the stream if the server has one, or polls. */
  async again() {
    clearTimeout(this.timer);
    if (this.stream?.readyState === EventSource.OPEN) return;
    const hidden = document.hidden && this.list;
    const done = hidden || (await this.attempt(() => this.readAll()));
    if (done && this.streams && !this.stream && Date.now() > (this.refused ?? 0)) this.open();
    if (!this.stream) this.later(POLL);
  }

  async attempt(work) {
    try {
      await work();
      this.heard();
      return true;
    } catch (error) {
      const isUsual = error instanceof TypeError || ["TimeoutError", "Missing"].includes(error.name);
      if (!isUsual) console.error(error);
      this.failed();
      // Start over, so that no change is missed.
      if (this.stream) {
        this.close();
        this.later(POLL);
      }
      return false;
    }
  }

  async readAll() {
    await this.readList();
    if (this.wanted !== null) await this.readRound(this.wanted);
  }

  async readList() {
    const text = await this.read("wall.json");
    if (text === null) throw Object.assign(new Error("no list"), { name: "Missing" });
    if (this.isNew("wall.json", text)) this.setList(JSON.parse(text));
  }

  async readRound(round) {
    const path = `round-${round}/wall.json`;
    const missed = [];
    this.reading.set(round, missed);
    const text = await this.read(path).finally(() => {
      if (this.reading.get(round) === missed) this.reading.delete(round);
    });
    if (text !== null && this.isNew(path, text)) {
      const { head, games } = JSON.parse(text);
      this.rounds.set(round, { head, games });
      this.shown({ round, games: null });
    }
    for (const news of missed) this.change(news);
  }

  isNew(path, text) {
    const isNew = this.texts.get(path) !== text;
    this.texts.set(path, text);
    return isNew;
  }

  setList(list) {
    this.list = list;
    setHalls(list.halls);
    this.shown({ list: true });
  }

  /** Reads a file's text; null if the file does not exist. */
  async read(path) {
    const sent = Date.now();
    // With a stream, the id of its last message is part of the URL, so that no cache answers with an older version.
    const name = this.stream && this.version ? `${path}?${this.version}` : path;
    const response = await fetch(name, { cache: "no-cache", signal: AbortSignal.timeout(10000) });
    compare(response.headers.get("date"), sent, Date.now(), response.headers.get("age"));
    if (path === "wall.json") this.streams = response.headers.get("kiebitz-stream");
    if (response.status === 404) return null;
    if (!response.ok) throw new TypeError(`${path}: ${response.status}`);
    return response.text();
  }

  open() {
    const stream = new EventSource(this.streams);
    this.stream = stream;
    stream.onopen = () => this.heard();
    stream.onerror = () => {
      this.failed();
      if (stream.readyState !== EventSource.CLOSED) return;
      // The server has too many viewers, or a proxy does not pass the stream on.
      this.close();
      this.refused = Date.now() + REFUSED;
      this.later(1000);
    };
    stream.addEventListener("here", () => this.heard());
    stream.addEventListener("anew", (event) => this.hear(event, () => this.anew(event)));
    stream.addEventListener("list", (event) => this.hear(event, () => this.setList(JSON.parse(event.data))));
    stream.addEventListener("round", (event) => this.hear(event, () => this.change(JSON.parse(event.data))));
  }

  close() {
    this.stream?.close();
    this.stream = null;
    this.waiting = null;
  }

  /** Handles messages in order. Messages that arrive while all files are read wait until then. */
  hear(event, act) {
    this.heard();
    this.version = event.lastEventId;
    // The texts read before can no longer tell whether a file has changed.
    this.texts.clear();
    if (this.waiting) this.waiting.push(act);
    else act();
  }

  async anew() {
    this.waiting = [];
    const [stream, wanted] = [this.stream, this.wanted];
    this.rounds = new Map([...this.rounds].filter(([round]) => round === wanted));
    await this.attempt(() => this.readAll());
    if (this.stream !== stream) return;
    const waiting = this.waiting ?? [];
    this.waiting = null;
    for (const act of waiting) act();
  }

  change(news) {
    const { round, head, games, anew } = news;
    const known = this.rounds.get(round);
    if (this.reading.has(round)) {
      this.reading.get(round).push(news);
      return;
    }
    if (!known) return;
    if (anew) {
      if (round === this.wanted) this.attempt(() => this.readRound(round));
      else this.rounds.delete(round);
      return;
    }
    if (head) known.head = head;
    for (const [number, fields] of games) known.games[number - 1] = { ...known.games[number - 1], ...fields };
    this.shown({ round, games: games.map(([number]) => number - 1) });
  }
}
