// A compact list of the games of a round, with their results.

import { numbered } from "./card.js";
import { make, mark, say } from "./dom.js";
import { address, playerAddress } from "./options.js";
import { hallOf, tableName } from "./tables.js";
import { isOver, outcome, words } from "./words.js";

function side(which) {
  const title = make("abbr", "title");
  const name = make("a", "name");
  const rating = make("span", "more");
  const cell = make("td", `who ${which}`, {}, title, name, rating);
  return { cell, title, name, rating };
}

/** A row of the list. */
class Row {
  constructor() {
    this.link = make("a", "number");
    this.sides = { white: side("white"), black: side("black") };
    this.result = make("td", "result");
    const table = make("th", "", { scope: "row" }, this.link);
    this.element = make("tr", "", {}, table, this.sides.white.cell, this.result, this.sides.black.cell);
  }

  update(game, round, opened) {
    say(this.link, tableName(game.table));
    mark(this.link, "href", address(round, game.table));
    mark(this.link, "aria-label", `${words.board} ${tableName(game.table)}`);
    for (const which of ["white", "black"]) {
      const { title, name, rating } = this.sides[which];
      const player = game[which];
      say(title, player.title ?? "");
      say(name, player.name ?? words.nobody);
      mark(name, "href", player.name ? playerAddress(player.name) : null);
      say(rating, player.rating ? String(player.rating) : "");
    }
    const isPlayed = game.live && game.last;
    const open = isOver(game) ? words.openResult : "–";
    say(this.result, game.live ? (isPlayed ? numbered(game.last) : "●") : outcome(game) || open);
    mark(this.link, "aria-current", game.table === opened ? "page" : null);
    this.element.classList.toggle("now", game.table === opened);
    this.element.classList.toggle("live", game.live);
    this.element.classList.toggle("over", !game.live && game.result !== "*");
    this.element.classList.toggle("open", isOver(game) && game.result === "*");
  }
}

export class List {
  constructor() {
    this.rows = new Map();
    const heads = [
      [words.board, "#"],
      [words.white, words.white],
      [words.result, words.result],
      [words.black, words.black],
    ].map(([label, shown]) => make("th", "", { scope: "col", ...(label === shown ? {} : { abbr: label, title: label }) }, shown));
    this.body = make("tbody", "");
    this.element = make("table", "list", {}, make("caption", "spoken", {}, words.results), make("thead", "", {}, make("tr", "", {}, ...heads)), this.body);
  }

  /** Shows games in the order of the tables. `opened` is the table whose game is opened beside the list. */
  update(games, round, opened = null) {
    const tables = games.map(({ table }) => table);
    const shown = tables.join();
    for (const game of games) {
      if (!this.rows.has(game.table)) this.rows.set(game.table, new Row());
      this.rows.get(game.table).update(game, round, opened);
    }
    // Names of halls take more room than numbers.
    this.element.classList.toggle("in-halls", games.some(({ table }) => hallOf(table)));
    if (shown === this.shown) return;
    this.shown = shown;
    this.body.replaceChildren(...tables.map((table) => this.rows.get(table).element));
    const known = new Set(tables);
    for (const table of this.rows.keys()) if (!known.has(table)) this.rows.delete(table);
  }
}
