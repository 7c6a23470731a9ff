// The page of a player: all games of the event.

import { make, say } from "./dom.js";
import { address, playerAddress } from "./options.js";
import { fill, points, words } from "./words.js";

/** The result of a game, as a link if the broadcast has the game. */
function outcome({ round, table, score, live, forfeit }) {
  const known = score === null ? (live ? `● ${words.playingNow}` : "–") : points(score);
  const shown = forfeit ? `${known} ${words.forfeit}` : known;
  const href = table && address(round, table);
  return href ? make("a", "number", { href, "aria-label": `${shown}, ${words.round} ${round}` }, shown) : make("span", "", {}, shown);
}

/** The line of a game. The whole line leads to the game. */
function line(one, players) {
  const opponent = one.opponent === null ? null : players[one.opponent];
  const title = opponent?.title ? [make("abbr", "title", {}, opponent.title), " "] : [];
  const name = opponent ? make("a", "name", { href: playerAddress(opponent.name) }, opponent.name) : make("span", "more", {}, words.bye);
  const color = one.color ? [make("span", `piece-color ${one.color}`, { "aria-hidden": "true" }), make("span", "spoken", {}, words[one.color])] : [];
  return make(
    "tr",
    one.live ? "live" : "",
    {},
    make("th", "", { scope: "row" }, String(one.round)),
    make("td", "color", {}, ...color),
    make("td", "who", {}, ...title, name),
    make("td", "rating", {}, opponent?.rating ? String(opponent.rating) : ""),
    make("td", "result", {}, outcome(one)),
  );
}

function games(player, players) {
  const head = (text, className = "") => make("th", className, { scope: "col" }, text);
  const round = make("th", "", { scope: "col", abbr: words.round, title: words.round }, "#");
  const color = head(make("span", "spoken", {}, words.color), "color");
  const heads = [round, color, head(words.opponent), head(words.rating, "rating"), head(words.result, "result")];
  const isRated = player.results.some(({ opponent }) => players[opponent]?.rating);
  const of = make("table", `list of-player${isRated ? "" : " unrated"}`, {}, make("caption", "spoken", {}, fill(words.gamesOfPlayer, { name: player.name })));
  of.append(make("thead", "", {}, make("tr", "", {}, ...heads)), make("tbody", "", {}, ...player.results.map((one) => line(one, players))));
  return of;
}

export class Player {
  constructor() {
    this.none = make("p", "about");
    this.back = make("a", "back");
    this.found = make("div", "found");
    this.element = make("section", "player", {}, this.back, this.none, this.found);
  }

  /** Shows a player, or all players of the name. `hasStandings` is whether there are standings to go back to. */
  update(data, name, hasStandings) {
    const text = JSON.stringify([data, name, hasStandings]);
    if (text === this.shown) return;
    this.shown = text;
    this.back.href = address(null, null, hasStandings ? "standings" : "results");
    say(this.back, `‹ ${hasStandings ? words.standings : words.results}`);
    const players = data?.players ?? [];
    const found = players.filter((player) => player.name === name);
    say(this.none, found.length ? "" : data === undefined ? words.waiting : words.noPlayer);
    this.none.hidden = found.length > 0;
    const { activeElement } = document;
    const isFocused = this.found.contains(activeElement) && activeElement.tagName === "H2";
    this.found.replaceChildren(...found.flatMap((player) => this.one(player, players)));
    if (isFocused) this.focus();
  }

  one(player, players) {
    const title = player.title ? [make("abbr", "title", {}, player.title), " "] : [];
    const facts = [player.rating, player.federation, player.team, player.fide_id && `${words.fideId} ${player.fide_id}`].filter(Boolean);
    const rank = player.rank ? fill(words.ranked, { rank: player.rank }) : null;
    const sum = [
      make("b", "", {}, `${points(player.points)} ${player.points === 1 ? words.onePoint : words.pointsWord}`),
      [player.games === 1 ? words.oneGame : fill(words.fromGames, { count: player.games }), rank].filter(Boolean).join(" · "),
    ];
    return [
      make("h2", "", { tabindex: "-1" }, ...title, make("span", "name", {}, player.name)),
      ...(facts.length ? [make("p", "about", {}, facts.join(" · "))] : []),
      make("p", "sum", {}, sum[0], " ", sum[1]),
      games(player, players),
    ];
  }

  /** Sets the focus to the name. */
  focus() {
    this.found.querySelector("h2")?.focus();
  }
}
