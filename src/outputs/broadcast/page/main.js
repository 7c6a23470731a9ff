// The page: selects and draws the views of the event.

import * as clock from "./clock.js";
import { make, say } from "./dom.js";
import { Head, titleOf } from "./head.js";
import { Large } from "./large.js";
import { List } from "./list.js";
import { address, boards, filter, isPinned, option, place, setFilter } from "./options.js";
import { Player } from "./player.js";
import { Source } from "./source.js";
import { Standings } from "./standings.js";
import { Ticker } from "./ticker.js";
import { Wall, liveFirst } from "./wall.js";
import { fill, folded, language, timeOfDay, words } from "./words.js";

/** Default time for which a projector shows each page of boards, in milliseconds. */
const TURNED = 12000;
const PER_PAGE = 12;
/** Number of games from which a wide window shows the list beside the boards. */
const MANY = 40;
/** Windows in which the games of the round are listed beside an opened board. */
const wide = matchMedia("(min-width: 1200px)");
/** Default number of rows of the standings over a video. */
const TOP = 10;

const state = document.getElementById("state");
const main = document.getElementById("main");

const source = new Source(changed);
const empty = make("p", "empty");
const wall = new Wall(() => shown() === "pinned" && draw());
const list = new List();
const standings = new Standings();
const player = new Player();
const ticker = new Ticker();
const large = new Large((round, number) => source.moves(round, number));
const head = new Head(document.getElementById("head"), control);
const beside = make("section", "aside", { "aria-label": words.results, tabindex: "0" });
let team = option("team") ?? "";
let search = "";
let page = 0;
let turned = Date.now();
/** For each opened board: the position of its link in the window and the scroll position, before it was opened. */
const opened = new Map();

/** A file as last read, with its version. */
class Kept {
  /** `read` reads the file; its result is null if there is no such file. */
  constructor(read) {
    Object.assign(this, { read, version: null, data: null });
  }

  /** Reads the file again if its version has changed. */
  async update(wanted) {
    const { version } = this;
    if (version === wanted) return;
    this.version = wanted;
    const data = wanted && (await this.read().catch(() => undefined));
    // After a failure, the next change reads it again.
    if (data === undefined) this.version = version;
    else this.data = data;
  }
}

const table = new Kept(() => source.standings());
const people = new Kept(() => source.players());

const overlay = option("overlay");
const isOverlay = overlay !== null;
const isEmbedded = option("embed") !== null;
const isProjector = () => option("projector") !== null && !isOverlay;
wall.isShort = isOverlay;

/** The round in the URL if it exists, else the current one. */
function shownRound() {
  const asked = place().round;
  const known = source.list?.rounds.some(({ round }) => round === asked);
  return known ? asked : source.list?.current ?? null;
}

/** The view in the URL: null for the boards, "results" or "standings". */
function view() {
  if (isOverlay) return ["ticker", "standings"].includes(overlay) ? overlay : null;
  return isProjector() || isEmbedded ? null : place().view;
}

/** The boards to show. By default only those of tables with a board, if most tables have none. */
function shown() {
  const chosen = filter();
  if (chosen || isOverlay) return isOverlay ? "all" : chosen;
  const games = source.rounds.get(shownRound())?.games ?? [];
  const count = games.filter((game) => game.has_board).length;
  return count > 0 && 2 * count < games.length ? "boards" : "all";
}

function changed(what) {
  const round = shownRound();
  if (round !== null && round !== source.wanted) source.want(round);
  if (source.list && (what.list || what.round === round)) drawHead();
  if (what.list || what.round === round) draw();
}

/** A control of the head has changed. */
function control(name, value) {
  if (name === "show") setFilter(value);
  if (name === "team") team = value;
  if (name === "search") search = value;
  drawHead();
  draw();
  // Scrolls to the first match, which is below the search.
  if (name === "search") scrollTo(0, Math.min(scrollY, head.above));
}

function put(...elements) {
  if (elements.length === main.children.length && elements.every((one, at) => main.children[at] === one)) return;
  main.replaceChildren(...elements);
}

function draw() {
  const round = shownRound();
  const known = source.rounds.get(round);
  const { board } = place();
  const shows = { overlay: isOverlay, embed: isEmbedded, projector: isProjector(), one: board !== null && !isOverlay };
  for (const [name, on] of Object.entries(shows)) document.body.classList.toggle(name, on);
  document.body.dataset.view = view() ?? "boards";
  if (view() === "standings" && source.list) return drawStandings();
  if (view() === "player" && source.list) return drawPlayer();
  if (!known) {
    put(empty);
    say(empty, words.waiting);
    return;
  }
  if (shows.one) drawLarge(known, round, board);
  else if (view() === "results") drawList(known, round);
  else if (view() === "ticker") {
    put(ticker.element);
    ticker.update(known.games, round);
  } else drawWall(known, round);
}

function drawLarge(known, round, board) {
  const index = known.games.findIndex(({ table: one }) => one === board);
  if (index < 0) {
    put(empty);
    say(empty, words.noBoard);
    return;
  }
  put(large.element);
  large.hasPreviews = Boolean(source.list?.event.has_previews);
  large.update(known.games[index], round, index + 1, known.games.map(({ table: one }) => one));
  const hasList = wide.matches && !isEmbedded && known.games.length > 1;
  large.element.classList.toggle("has-list", hasList);
  if (hasList) {
    putBeside(known.games, round, board);
    if (beside.parentElement !== large.element) large.element.append(beside);
  } else if (beside.parentElement === large.element) beside.remove();
}

/** Shows games in the list beside boards. `opened` is the table of the opened board, if there is one. */
function putBeside(games, round, opened = null) {
  list.update(games, round, opened);
  if (list.element.parentElement !== beside) beside.replaceChildren(list.element);
}

/** Reads the standings again if their version has changed. */
async function drawStandings() {
  await table.update(source.list.standings ?? null);
  if (view() !== "standings") return;
  put(standings.element);
  standings.update(table.data, search, isOverlay ? Number(option("top")) || TOP : Infinity);
}

/** Reads the players again if their version has changed. Returns when the page is drawn. */
async function drawPlayer() {
  const { player: name } = place();
  await people.update(source.list.players ?? null);
  if (place().player !== name) return;
  player.update(people.data, name, Boolean(source.list.standings));
  put(player.element);
}

/** Whether the search finds one of the players. */
function isFound({ white, black }) {
  const wanted = folded(search.trim());
  return !wanted || [white, black].some(({ name, team: of }) => folded(`${name ?? ""} ${of ?? ""}`).includes(wanted));
}

function isOfTeam(game) {
  return !team || game.white.team === team || game.black.team === team;
}

/** The games selected by URL, filter, team and search. */
function chosen(games) {
  const asked = boards();
  if (asked) return asked.map((board) => games.find(({ table: one }) => one === board)).filter(Boolean);
  const by = {
    boards: (game) => game.has_board,
    playing: (game) => game.live,
    pinned: (game) => isPinned(game.table),
  };
  // A search goes through all tables.
  const matches = search.trim() ? undefined : by[shown()];
  const some = games.filter((game) => (!matches || matches(game)) && isOfTeam(game) && isFound(game));
  return isOverlay ? liveFirst(some).slice(0, 4) : some;
}

function drawList(known, round) {
  const games = known.games.filter((game) => isOfTeam(game) && isFound(game));
  list.update(games, round);
  say(empty, games.length ? "" : words.noneShown);
  put(empty, list.element);
}

function drawWall(known, round) {
  let games = chosen(known.games);
  const isPlain = !isProjector() && !isOverlay && !isEmbedded;
  if (isProjector()) games = onPage(liveFirst(games));
  wall.update(games, round, isPlain && !boards() ? known.head.matches : null);
  say(empty, games.length ? "" : words.noneShown);
  const hasList = isPlain && !boards() && known.games.length >= MANY;
  if (hasList) {
    putBeside(known.games.filter((game) => isOfTeam(game) && isFound(game)), round);
    put(empty, beside, wall.element);
  } else {
    put(empty, wall.element);
  }
  main.classList.toggle("many", hasList);
  fit();
}

/** The games on the projector's current page. */
function onPage(games) {
  const each = Number(option("per")) || PER_PAGE;
  const pages = Math.max(1, Math.ceil(games.length / each));
  page %= pages;
  say(head.turning, pages > 1 ? `${words.page} ${page + 1} / ${pages}` : "");
  return games.slice(page * each, (page + 1) * each);
}

/** In views without scrolling, makes the boards as large as the window allows. */
function fit() {
  wall.fit(isProjector() || isOverlay, isOverlay);
}

function drawHead() {
  const round = shownRound();
  const known = source.rounds.get(round);
  document.title = titleOf(source.list.event, round, known, place());
  if (isOverlay) return;
  const about = { list: source.list, round, known, view: view(), shown: shown(), team };
  head.update({ ...about, isEmbedded, isProjector: isProjector() });
}

function drawState() {
  const since = source.stale();
  const text = since ? fill(words.lost, { time: timeOfDay(since) }) : "";
  if (state.textContent === text) return;
  say(state, text);
  document.body.classList.toggle("stale", Boolean(since));
  // The message leaves less room for the boards.
  fit();
}

/** Draws everything that changes with time. Returns whether any clock shows tenths of a second. */
function pass() {
  drawState();
  if (isProjector()) head.tick();
  if (isProjector() && Date.now() - turned > (Number(option("every")) * 1000 || TURNED)) {
    [page, turned] = [page + 1, Date.now()];
    draw();
  }
  return document.body.classList.contains("one") ? large.drawClocks() : wall.draw();
}

/** The link to a board in the view shown; undefined if the view does not have it. */
function linkTo(board) {
  return (view() === "results" ? list.rows : wall.cards).get(board)?.link;
}

/** Scrolls so that a closed board has the same position in the window as before it was opened. */
function scrollBack(board) {
  const link = linkTo(board);
  const { top, scrolled = 0 } = opened.get(board) ?? {};
  scrollTo(0, scrolled);
  if (!link?.isConnected) return;
  link.focus({ preventScroll: true });
  if (top === undefined) link.scrollIntoView({ block: "center" });
  // Cards get their final height only in the window, which moves other cards: repeat until the position is stable.
  else for (let tries = 0; tries < 4; tries += 1) scrollBy(0, link.getBoundingClientRect().top - top);
}

addEventListener("hashchange", async (event) => {
  const { board } = place();
  const left = Number(/board\/(\d+)/.exec(event.oldURL)?.[1]) || null;
  if (board !== null) {
    const link = left === null ? linkTo(board) : null;
    const top = link?.isConnected ? link.getBoundingClientRect().top : undefined;
    opened.set(board, left === null ? { top, scrolled: scrollY } : opened.get(left));
  }
  const round = shownRound();
  if (round !== null) await source.want(round);
  if (source.list) drawHead();
  const drawn = draw();
  if (left !== null && board === null && view() !== "player") return scrollBack(left);
  scrollTo(0, 0);
  if (board !== null) large.title.focus();
  if (view() !== "player") return;
  await drawn;
  player.focus();
});
wide.addEventListener("change", () => source.list && draw());
// The page itself restores the position, once the view is drawn.
history.scrollRestoration = "manual";
addEventListener("resize", () => {
  fit();
  head.settle();
});
addEventListener("keydown", (event) => {
  const isTyped = ["SELECT", "INPUT"].includes(event.target.tagName);
  const isPlain = !event.altKey && !event.ctrlKey && !event.metaKey && !isTyped;
  if (isPlain && isProjector() && event.key === "Escape") location.hash = address(place().round);
  if (isPlain && place().board !== null && large.game && large.press(event.key)) event.preventDefault();
});
document.addEventListener("visibilitychange", () => clock.tick());

document.documentElement.lang = language;
say(empty, words.waiting);
put(empty);
clock.follow(pass);
clock.tick();
source.start();
