// The overview of a round: a card for each game, in groups.

import { Card } from "./card.js";
import { make, say } from "./dom.js";
import { isOver, points, words } from "./words.js";

/** Maximum number of boards with animated pieces. */
const FEW = 16;
/** Height of a card's lines of text in relation to the width of its board; the style sheet has the same values. */
const TEXT = { usual: 7.5 / 15, overlay: 5.4 / 15 };

/** A match with its score. */
export function matchLine({ teams, points: [first, second] }, tag = "p") {
  const score = make("b", "", {}, `${points(first)} : ${points(second)}`);
  return make(tag, "match", {}, make("span", "team", {}, teams[0]), score, make("span", "team", {}, teams[1]));
}

/** The games in the order in which a projector shows them: live ones, finished ones on boards, all others. */
export function liveFirst(games) {
  const order = (game) => (game.live ? 0 : game.has_board ? 1 : 2);
  return games.toSorted((one, other) => order(one) - order(other));
}

/** Groups of games with the key and the heading of each. */
function grouped(games, matches) {
  if (matches.length) {
    const of = ({ teams }) =>
      games.filter(({ white, black }) => teams.includes(white.team) && teams.includes(black.team) && white.team !== black.team);
    const groups = matches.map((match) => ({ key: match.teams.join("|"), match, games: of(match) }));
    const known = new Set(groups.flatMap((group) => group.games));
    const others = games.filter((game) => !known.has(game));
    return [...groups, { key: "others", heading: words.withoutMatch, games: others }].filter((group) => group.games.length);
  }
  const groups = [
    { key: "playing", heading: words.playing, games: games.filter((game) => game.live) },
    { key: "notBegun", heading: words.notBegun, games: games.filter((game) => !game.live && !isOver(game)) },
    { key: "finished", heading: words.finished, games: games.filter((game) => isOver(game)) },
  ];
  const filled = groups.filter((group) => group.games.length);
  // A single group needs no heading, unless it says that everything is over.
  return filled.length === 1 && filled[0].key !== "finished" ? [{ ...filled[0], heading: "" }] : filled;
}

export class Wall {
  /** `pinned` is called when a board is pinned or unpinned. */
  constructor(pinned) {
    this.pinned = pinned;
    this.element = make("div", "groups");
    this.cards = new Map();
    this.sections = new Map();
    this.shown = "";
    /** Whether the names of the players are short, as in an overlay. */
    this.isShort = false;
    /** Size of the boards in CSS pixels if they fit the window, else 0. */
    this.size = 0;
  }

  /** Shows games. With `matches` they are grouped by match, without by state; null for a single group. */
  update(games, round, matches) {
    this.games = games;
    const groups = matches ? grouped(games, matches) : [{ key: "all", heading: "", games }];
    const text = JSON.stringify(groups.map(({ key, heading, games: of }) => [key, heading, of.map(({ table }) => table)]));
    if (text !== this.shown) this.arrange(groups, games);
    this.shown = text;
    for (const game of games) this.cards.get(game.table).update(game, round);
    for (const { key, match } of groups) if (match) this.drawMatch(key, match);
  }

  arrange(groups, games) {
    const tables = new Set(games.map(({ table }) => table));
    for (const [table, card] of this.cards) {
      if (tables.has(table)) continue;
      card.remove();
      this.cards.delete(table);
    }
    const focused = document.activeElement?.closest?.(".card")?.card;
    const sections = groups.map((group) => this.section(group, games.length));
    const keys = new Set(groups.map(({ key }) => key));
    for (const key of this.sections.keys()) if (!keys.has(key)) this.sections.delete(key);
    this.element.replaceChildren(...sections);
    focused?.link.focus();
  }

  section({ key, heading, match, games }, count) {
    let section = this.sections.get(key);
    if (!section) {
      section = make("section", "group");
      section.heading = make("h2", "");
      section.list = make("ul", "wall");
      section.append(section.heading, section.list);
      this.sections.set(key, section);
    }
    section.dataset.group = key;
    if (!match) say(section.heading, heading ? `${heading} (${games.length})` : "");
    section.heading.hidden = !match && !heading;
    const cards = games.map((game) => {
      let card = this.cards.get(game.table);
      if (!card) {
        card = new Card(this.pinned, this.isShort);
        card.moves = count <= FEW;
        this.cards.set(game.table, card);
      }
      return card.element;
    });
    section.list.replaceChildren(...cards);
    return section;
  }

  drawMatch(key, match) {
    const { heading } = this.sections.get(key);
    const text = JSON.stringify([match.teams, match.points]);
    if (heading.dataset.shown === text) return;
    heading.dataset.shown = text;
    heading.replaceChildren(matchLine(match, "span"));
  }

  /** Makes the boards of the only group as large as the window allows. */
  fit(isFitted, isOverlay) {
    const grid = this.element.querySelector(".wall");
    for (const one of this.element.querySelectorAll(".wall")) if (!isFitted || one !== grid) one.removeAttribute("data-fit");
    this.size = 0;
    if (!isFitted || !grid) return;
    const count = Math.max(1, grid.children.length);
    const gap = Math.round(Math.min(innerWidth, innerHeight) / 120) + 2;
    const text = isOverlay ? TEXT.overlay : TEXT.usual;
    const [width, height] = [innerWidth, innerHeight - grid.getBoundingClientRect().top];
    let [best, columns] = [0, 1];
    // Four boards over a video are two rows of two.
    const tried = isOverlay && (count === 3 || count === 4) ? [2] : Array.from({ length: count }, (_, at) => at + 1);
    for (const each of tried) {
      const rows = Math.ceil(count / each);
      // Two pixels of each card are its border.
      const across = (width - gap * (each + 1)) / each - 2;
      const down = ((height - gap * (rows + 1)) / rows - 3) / (1 + text);
      const size = Math.min(across, down);
      if (size > best) [best, columns] = [size, each];
    }
    // Squares are whole pixels.
    const size = Math.max(8, Math.floor(best / 8) * 8);
    grid.dataset.fit = columns;
    grid.style.setProperty("--columns", columns);
    grid.style.setProperty("--size", `${size}px`);
    grid.style.setProperty("--gap", `${gap}px`);
    grid.style.setProperty("--height", `${Math.floor(height)}px`);
    this.size = size;
    this.shorten();
  }

  /** Draws the clocks. Returns whether any shows tenths of a second. */
  draw() {
    let hurry = false;
    for (const card of this.cards.values()) hurry = card.draw() || hurry;
    // A wider clock leaves less room for the name.
    this.shorten();
    return hurry;
  }

  /** Shortens the names that are cut off on boards of a fixed size. */
  shorten() {
    if (!this.size) return;
    for (const { sides, game } of this.cards.values()) for (const side of Object.values(sides)) side.shorten(game, this.size);
  }
}
