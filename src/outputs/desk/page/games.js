// The searchable list of past games, the newest first.

import { button, make, mark, say } from "/page/dom.js";
import { field } from "./deed.js";
import { Throttle, gamesOf } from "./follow.js";
import { count, fill, locale, result, time, words } from "./words.js";

/** Delay of the search while the user types, in milliseconds. */
const PAUSE = 250;
/** Delay in milliseconds after which the journal has new events. */
const SOON = 1500;

/** Address of a past game on this page, or of its resource `of` on the server. */
export function gameAddress(game, of = null) {
  const id = encodeURIComponent(game);
  return of === null ? `#/game/${id}` : `/games/${id}${of && `/${of}`}`;
}

function day(at) {
  return new Date(at).toLocaleDateString(locale, { weekday: "long", day: "numeric", month: "long", year: "numeric" });
}

/** Describes the outcome of a game. */
export function outcome({ result: how, reason, confirmed }) {
  if (!reason) return words.review.playing;
  const text = [result(how), words.reasons[reason] ?? reason].filter(Boolean).join(" · ");
  return how !== "*" && !confirmed ? `${text} (${words.past.notConfirmed})` : text;
}

/** Notices about a game, as a list of [CSS class, text]. */
function notices({ violations, advice, hints, result: how, confirmed, reason }) {
  const counted = [
    ["violation", violations, words.review.violations],
    ["advice", advice, words.review.advice],
    ["", hints, words.review.hints],
  ];
  const found = counted.filter(([, n]) => n > 0).map(([tone, n, text]) => [tone, fill(text, { n })]);
  if (reason && (how === "*" || !confirmed)) found.push(["hint", words.review.resultOpen]);
  return found;
}

/** Whether a player of a game is known. */
function isNamed({ white, black }) {
  return Boolean(white || black);
}

function row(game) {
  const { game: id, board, table, round, white, black, started, plies } = game;
  const players = `${white ?? words.nobody} – ${black ?? words.nobody}`;
  const where = [round && fill(words.review.round, { round }), table && `${words.table} ${table}`, board].filter(Boolean).join(" · ");
  const chips = notices(game).map(([tone, text]) => make("span", `chip ${tone}`, {}, text));
  const link = make(
    "a",
    "past-game",
    { href: gameAddress(id), "data-game": id },
    make("span", "times", {}, time(started).slice(0, 5)),
    make("b", "players-of", {}, players),
    make("span", "outcome", {}, outcome(game)),
    make("span", "where", {}, where),
    make("span", "where", {}, fill(words.review.moves, { n: Math.ceil(plies / 2) })),
    make("span", "health", {}, ...chips),
  );
  return make("li", "", {}, link);
}

export class Games {
  /** `look` sends a request to the server; `entry` is the form for the result of a table, or null. */
  constructor(look, entry) {
    this.look = look;
    const plain = { autocomplete: "off" };
    this.text = make("input", "", { ...plain, type: "search", name: "text", spellcheck: "false" });
    this.date = make("input", "", { ...plain, type: "date", name: "date" });
    this.round = make("input", "", { ...plain, type: "number", name: "round", min: "1", max: "999", inputmode: "numeric" });
    const choices = Object.entries(words.review.notices).map(([value, text]) => make("option", "", { value }, text));
    this.notice = make("select", "", { name: "notice" }, ...choices);
    const fields = [this.text, this.date, this.round, this.notice];
    const named = fields.map((one) => field(words.review.fields[one.name], one));
    this.form = make("form", "search", { role: "search", "aria-label": words.review.search }, ...named);
    this.form.addEventListener("submit", (event) => {
      event.preventDefault();
      this.start();
    });
    this.form.addEventListener("input", () => {
      clearTimeout(this.soon);
      this.soon = setTimeout(() => this.start(), PAUSE);
    });
    this.title = make("h2", "", { tabindex: "-1", id: "games" }, words.review.title);
    this.count = make("p", "quiet", { role: "status" });
    this.list = make("div", "days");
    this.more = button("", words.review.older, words.review.older, () => this.goOn());
    this.more.hidden = true;
    /** Listed games. */
    this.known = [];
    /** Days whose games without players are unfolded. */
    this.unfolded = new Set();
    this.again = null;
    this.element = make("section", "games", { "aria-labelledby": "games" }, this.title, this.form, ...(entry ? [entry] : []), this.count, this.list, this.more);
  }

  /** Loads and shows the list. `from` is the game from which the user returns; it gets the focus. */
  async open(from, boards) {
    this.close();
    this.again = new Throttle(() => this.refresh(), SOON, 4);
    this.played = gamesOf(boards);
    this.title.focus({ preventScroll: true });
    await this.start();
    this.link(from)?.focus();
  }

  close() {
    this.again?.stop();
    clearTimeout(this.soon);
    this.asked?.abort();
    this.asked = null;
  }

  /** Reloads the list if a game has begun or ended. */
  follow(boards) {
    const played = gamesOf(boards);
    if (played === this.played) return;
    this.played = played;
    this.again.call();
  }

  /** The link to a game, which is unfolded; undefined if the list does not have it. */
  link(game) {
    const link = [...this.list.querySelectorAll("a")].find((one) => one.dataset.game === game);
    const fold = link?.closest("details");
    if (fold) fold.open = true;
    return link;
  }

  async start() {
    clearTimeout(this.soon);
    await this.fetch(null);
  }

  async goOn() {
    const before = new Set(this.links().map(({ dataset }) => dataset.game));
    await this.fetch(this.after);
    this.links().find(({ dataset }) => !before.has(dataset.game))?.focus();
  }

  /** Requests games. Null if another request has replaced this one. */
  async ask(after) {
    this.asked?.abort();
    const asked = (this.asked = new AbortController());
    const query = new URLSearchParams();
    for (const one of [this.text, this.date, this.round, this.notice]) if (one.value) query.set(one.name, one.value);
    if (after) query.set("after", after);
    const told = await this.look(`/games?${query}`, asked);
    return asked === this.asked ? told : null;
  }

  async fetch(after) {
    mark(this.list, "aria-busy", "true");
    if (!this.known.length) say(this.count, words.review.loading);
    const told = await this.ask(after);
    if (!told) return;
    mark(this.list, "aria-busy", null);
    if (!after) this.clear();
    if (!told.ok) {
      this.more.hidden = true;
      say(this.count, fill(words.review.failed, { error: told.answer.error ?? "" }));
      return;
    }
    this.add(told.answer);
  }

  /** Reloads the newest games. Keeps older games that were loaded, and the focus. */
  async refresh() {
    if (this.list.getAttribute("aria-busy")) {
      // A request by the user comes first.
      this.again.call();
      return;
    }
    const told = await this.ask(null);
    if (!told?.ok) return;
    const { games, more } = told.answer;
    const oldest = games.at(-1)?.started;
    const listed = new Set(games.map(({ game }) => game));
    const isOlder = ({ game, started }) => !listed.has(game) && Date.parse(started) < Date.parse(oldest);
    const older = more && oldest ? this.known.filter(isOlder) : [];
    const next = older.length ? this.after : more;
    const focused = document.activeElement?.dataset?.game;
    const isInList = this.list.contains(document.activeElement);
    this.clear();
    this.add({ games: [...games, ...older], more: next });
    if (isInList) (this.link(focused) ?? this.title).focus({ preventScroll: true });
  }

  clear() {
    this.known = [];
    this.list.replaceChildren();
  }

  /** The links to games that are not folded away. */
  links() {
    return [...this.list.querySelectorAll("a")].filter((one) => one.checkVisibility());
  }

  /** Appends games. `more` is the game after which further ones may follow. */
  add({ games, more }) {
    this.known.push(...games);
    this.draw();
    this.after = more;
    this.more.hidden = !more;
    const n = this.known.length;
    const counted = n === 1 ? words.review.one : fill(words.review.count, { n });
    say(this.count, more ? fill(words.review.countMore, { n }) : n ? counted : words.review.none);
  }

  /**
   * Shows the games by day. Games that are over and have no players are folded away below the others, unless a search
   * asks for them or no game has players: they are mostly trials and analysis.
   */
  draw() {
    const isSearch = [this.text, this.notice].some(({ value }) => value);
    const folds = !isSearch && this.known.some(isNamed);
    const isFolded = (game) => folds && Boolean(game.reason) && !isNamed(game);
    const days = new Map();
    for (const game of this.known) {
      const heading = day(game.started);
      days.set(heading, [...(days.get(heading) ?? []), game]);
    }
    const parts = [...days].flatMap(([heading, games]) => {
      const shown = games.filter((game) => !isFolded(game));
      const folded = games.filter(isFolded);
      const list = make("ol", "past-games", { "aria-label": heading }, ...shown.map(row));
      return [make("h3", "", {}, heading), ...(shown.length ? [list] : []), ...(folded.length ? [this.fold(heading, folded)] : [])];
    });
    this.list.replaceChildren(...parts);
  }

  /** Games of a day without players, which can be unfolded. */
  fold(heading, games) {
    const text = count(words.review.unnamed, games.length);
    const list = make("ol", "past-games", { "aria-label": `${heading}: ${text}` }, ...games.map(row));
    const fold = make("details", "unnamed", {}, make("summary", "", {}, text), list);
    fold.open = this.unfolded.has(heading);
    fold.addEventListener("toggle", () => (fold.open ? this.unfolded.add(heading) : this.unfolded.delete(heading)));
    return fold;
  }

  /** Handles a key; returns whether it has a function here. */
  press(name) {
    const by = { ArrowDown: 1, ArrowUp: -1, j: 1, k: -1 }[name];
    const links = this.links();
    if (!by || !links.length) return false;
    const at = links.indexOf(document.activeElement);
    links[at < 0 ? 0 : Math.max(0, Math.min(links.length - 1, at + by))].focus();
    return true;
  }
}
