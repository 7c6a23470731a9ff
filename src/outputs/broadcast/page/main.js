// The page: selects and draws the views of the event.

import { Card } from "./card.js";
import * as clock from "./clock.js";
import { choose, make, say } from "./dom.js";
import { Large } from "./large.js";
import { address, boards, filter, isPinned, option, place, setFilter } from "./options.js";
import { Source } from "./source.js";
import { duration, fill, language, points, words } from "./words.js";

/** Default time for which a projector shows each page of boards, in milliseconds. */
const TURNED = 12000;
const PER_PAGE = 12;
/** Maximum number of boards with animated pieces. */
const FEW = 16;

const head = document.getElementById("head");
const state = document.getElementById("state");
const main = document.getElementById("main");

const source = new Source(changed);
const grid = make("ul", "wall");
const matches = make("section", "matches", { "aria-label": words.matches, tabindex: "0" });
const empty = make("p", "empty");
const turning = make("p", "turning");
const cards = new Map();
const large = new Large((round, number) => source.moves(round, number));
let team = option("team") ?? "";
let page = 0;
let turned = Date.now();

const isOverlay = option("overlay") !== null;
const isEmbedded = option("embed") !== null;
const isProjector = () => option("projector") !== null;

/** The round in the URL if it exists, else the current one. */
function shownRound() {
  const asked = place().round;
  const known = source.list?.rounds.some(({ round }) => round === asked);
  return known ? asked : source.list?.current ?? null;
}

function changed(what) {
  const round = shownRound();
  if (round !== null && round !== source.wanted) source.want(round);
  if (source.list && (what.list || what.round === round)) drawHead();
  if (what.round !== round) return what.list ? draw() : undefined;
  const { games } = what;
  // If only games have changed, update just their cards.
  if (games && !place().board && filter() === "all" && !isProjector()) {
    const all = source.rounds.get(round);
    for (const index of games) cards.get(all.games[index].table)?.update(all.games[index], round);
    drawMatches(all.head);
    return;
  }
  draw();
}

function draw() {
  const round = shownRound();
  const known = source.rounds.get(round);
  const { board } = place();
  document.body.classList.toggle("overlay", isOverlay);
  document.body.classList.toggle("embed", isEmbedded);
  document.body.classList.toggle("projector", isProjector());
  document.body.classList.toggle("one", board !== null);
  if (!known) {
    main.replaceChildren(empty);
    say(empty, words.waiting);
    return;
  }
  if (board !== null) drawLarge(known, round, board);
  else drawWall(known, round);
}

function drawLarge(known, round, board) {
  const index = known.games.findIndex(({ table }) => table === board);
  if (index < 0) {
    main.replaceChildren(empty);
    say(empty, words.noBoard);
    return;
  }
  if (large.element.parentElement !== main) main.replaceChildren(large.element);
  large.update(known.games[index], round, index + 1, known.games.map(({ table }) => table));
}

/** The games selected by URL, filter and team. */
function chosen(games) {
  const asked = boards();
  if (asked) return asked.map((board) => games.find(({ table }) => table === board)).filter(Boolean);
  const shown = isOverlay ? "all" : filter();
  const some = games.filter(
    (game) =>
      (shown !== "playing" || game.live) &&
      (shown !== "pinned" || isPinned(game.table)) &&
      (!team || game.white.team === team || game.black.team === team),
  );
  return isOverlay ? some.slice(0, 4) : some;
}

function drawWall(known, round) {
  let games = chosen(known.games);
  if (isProjector()) games = onPage(games);
  const tables = new Set(games.map(({ table }) => table));
  for (const [table, card] of cards) {
    if (tables.has(table)) continue;
    card.remove();
    cards.delete(table);
  }
  games.forEach((game, at) => {
    let card = cards.get(game.table);
    if (!card) {
      card = new Card(() => filter() === "pinned" && draw());
      card.moves = games.length <= FEW;
      cards.set(game.table, card);
    }
    if (grid.children[at] !== card.element) grid.insertBefore(card.element, grid.children[at] ?? null);
    card.update(game, round);
  });
  drawMatches(known.head);
  say(empty, games.length ? "" : words.noneShown);
  if (grid.parentElement !== main) main.replaceChildren(matches, empty, grid, turning);
  fit(games.length);
}

/** The games on the projector's current page. */
function onPage(games) {
  const each = Number(option("per")) || PER_PAGE;
  const pages = Math.max(1, Math.ceil(games.length / each));
  page %= pages;
  say(turning, pages > 1 ? `${words.page} ${page + 1} / ${pages}` : "");
  return games.slice(page * each, (page + 1) * each);
}

/** In views without scrolling, makes the boards as large as the window allows. */
function fit(count) {
  if (!isProjector() && !isOverlay) {
    grid.removeAttribute("data-fit");
    return;
  }
  const [width, height] = [innerWidth, innerHeight - grid.getBoundingClientRect().top - (isOverlay ? 0 : 24)];
  let [best, columns] = [0, 1];
  for (let tried = 1; tried <= Math.max(1, count); tried += 1) {
    const rows = Math.ceil(count / tried);
    // The height of a card is that of the board plus two player lines and the foot.
    const size = Math.min(width / tried / 1.06, height / rows / (isOverlay ? 1.28 : 1.5));
    if (size > best) [best, columns] = [size, tried];
  }
  grid.dataset.fit = columns;
  grid.style.setProperty("--columns", columns);
  grid.style.setProperty("--size", `${Math.floor(best)}px`);
}

function drawMatches(of) {
  const shown = of.matches.map(({ teams, points: [first, second] }) => [teams[0], points(first), points(second), teams[1]]);
  const text = JSON.stringify(shown);
  if (matches.dataset.shown === text) return;
  matches.dataset.shown = text;
  matches.hidden = !shown.length;
  matches.replaceChildren(
    ...shown.map(([one, first, second, other]) => {
      const score = make("b", "", {}, `${first} : ${second}`);
      return make("p", "match", {}, make("span", "team", {}, one), score, make("span", "team", {}, other));
    }),
  );
}

function drawHead() {
  if (isOverlay) return;
  const { event, rounds } = source.list;
  const round = shownRound();
  const about = rounds.find((one) => one.round === round);
  const name = event.name ?? "kiebitz";
  document.title = round ? `${name} · ${words.round} ${round}` : name;
  const known = source.rounds.get(round);
  const text = JSON.stringify([event, rounds, round, filter(), team, known?.head, isProjector()]);
  if (head.dataset.shown === text) return;
  head.dataset.shown = text;
  const facts = [
    event.site,
    known?.head.date,
    known?.head.time_control,
    about && `${about.games} ${about.games === 1 ? words.oneBoard : words.boards}, ${about.live} ${words.live}`,
    event.restarts && words.restarts,
    event.delay_ms > 0 && fill(words.delayed, { time: duration(event.delay_ms) }),
  ];
  const rows = [make("h1", "", {}, name), make("p", "facts", {}, facts.filter(Boolean).join(" · "))];
  const focused = document.activeElement?.dataset?.control;
  if (isEmbedded) head.replaceChildren(rows[0]);
  else head.replaceChildren(...rows, tools(rounds, round));
  head.querySelector(`[data-control="${focused}"]`)?.focus();
}

/** The controls: round, filter, team, projector. */
function tools(rounds, round) {
  const bar = make("nav", "tools");
  const control = (name, element) => {
    element.dataset.control = name;
    bar.append(element);
  };
  const choices = rounds.map(({ round: one, live }) => [String(one), `${words.round} ${one}${live ? " ●" : ""}`]);
  control("round", choose(words.round, choices, String(round), (value) => (location.hash = address(value))));
  const shown = ["all", "playing", "pinned"].map((value) => [value, words[value]]);
  control("show", choose(words.show, shown, filter(), (value) => again(() => setFilter(value))));
  const names = new Set(source.rounds.get(round)?.head.matches.flatMap(({ teams }) => teams));
  if (names.size) {
    const all = [["", words.allTeams], ...[...names].sort().map((one) => [one, one])];
    control("team", choose(words.team, all, team, (value) => again(() => (team = value))));
  }
  const projector = isProjector() ? address(round) : `${address(round)}?projector`;
  control("projector", make("a", "", { href: projector }, isProjector() ? words.leave : words.projector));
  if (round) bar.append(make("a", "", { href: `round-${round}/games.pgn` }, words.pgnRound));
  return bar;
}

function again(change) {
  change();
  drawHead();
  draw();
}

function drawState() {
  const since = source.stale();
  const time = since && new Date(since).toLocaleTimeString(language);
  say(state, since ? fill(words.lost, { time }) : "");
  document.body.classList.toggle("stale", Boolean(since));
}

/** Draws everything that changes with time. Returns whether any clock shows tenths of a second. */
function pass() {
  drawState();
  if (isProjector() && Date.now() - turned > (Number(option("every")) * 1000 || TURNED)) {
    [page, turned] = [page + 1, Date.now()];
    draw();
  }
  if (document.body.classList.contains("one")) return large.drawClocks();
  let hurry = false;
  for (const card of cards.values()) hurry = card.draw() || hurry;
  return hurry;
}

addEventListener("hashchange", async (event) => {
  const round = shownRound();
  if (round !== null) await source.want(round);
  if (source.list) drawHead();
  draw();
  scrollTo(0, 0);
  const left = Number(/board\/(\d+)/.exec(event.oldURL)?.[1]);
  if (place().board !== null) large.title.focus();
  else cards.get(left)?.link.focus();
});
addEventListener("resize", () => fit(grid.children.length));
addEventListener("keydown", (event) => {
  const plain = !event.altKey && !event.ctrlKey && !event.metaKey && event.target.tagName !== "SELECT";
  if (plain && place().board !== null && large.game && large.press(event.key)) event.preventDefault();
});
document.addEventListener("visibilitychange", () => clock.tick());

document.documentElement.lang = language;
say(empty, words.waiting);
main.replaceChildren(empty);
clock.follow(pass);
clock.tick();
source.start();
