// The standings: teams, players, and the crosstable of a round robin.

import { make, say } from "./dom.js";
import { address, playerAddress } from "./options.js";
import { fill, folded, points, words } from "./words.js";

/** A cell of a table's head. */
function head(text, label = text, className = "") {
  return make("th", className, { scope: "col", ...(label === text ? {} : { abbr: label, title: label }) }, text);
}

function table(caption, heads, rows, className) {
  const of = make("table", className, {}, make("caption", "", {}, caption));
  of.append(make("thead", "", {}, make("tr", "", {}, ...heads)), make("tbody", "", {}, ...rows));
  return of;
}

const number = (text) => make("td", "number", {}, String(text));

/** A player's name with title and federation. */
function who(row) {
  const title = row.title ? [make("abbr", "title", {}, row.title), " "] : [];
  const more = [row.federation, row.team].filter(Boolean).join(" · ");
  return make("th", "who", { scope: "row" }, ...title, make("a", "name", { href: playerAddress(row.name) }, row.name), " ", make("span", "more", {}, more));
}

/** A result with its score, as a link if the broadcast has the game. */
function game({ round, table: at, score, opponent, color }, players, text) {
  const shown = score === null ? "·" : points(score);
  const other = players[opponent]?.name ?? "";
  const label = `${words.round} ${round}, ${words[color]} ${words.against} ${other}`;
  const href = at && address(round, at);
  const cell = text(shown);
  // The label of a link begins with its text.
  return href
    ? make("a", "", { href, title: label, "aria-label": `${cell}, ${label}` }, cell)
    : make("span", "", { title: label }, cell);
}

/** Explains how players with equal points are ranked. */
function aboutRanking({ rounds_known: isKnown, tie_breaks: tieBreaks }) {
  if (!isKnown) return words.roundsUnknown;
  const names = tieBreaks.map((of) => words.tieBreaks[of][1]);
  return names.length ? fill(words.rankedBy, { names: names.join(", ") }) : words.equalPoints;
}

/** The class of the column of a tie-break: narrow windows show the first one only. */
const tieBreakClass = (at) => `number tie-break ${at ? "further" : ""}`.trim();

/** Whether players share a rank. If so, the numbers by which opponents are named need a column of their own. */
const isShared = ({ players }) => players.some(({ rank }, at) => rank !== at + 1);

export class Standings {
  constructor() {
    this.about = make("p", "about");
    this.note = make("p", "about");
    this.tables = make("div", "tables", { tabindex: "0", role: "group", "aria-label": words.standings });
    this.element = make("section", "standings", { "aria-label": words.standings }, this.about, this.tables, this.note);
  }

  /** Shows the standings, or that there are none. `search` selects players by name; `most` limits the rows. */
  update(data, search = "", most = Infinity) {
    const text = JSON.stringify([data, search, most]);
    if (text === this.shown) return;
    this.shown = text;
    const known = Boolean(data?.players.length);
    this.note.hidden = !known;
    if (known) say(this.note, aboutRanking(data));
    this.tables.replaceChildren();
    if (!known) return say(this.about, words.noStandings);
    const open = data.open && (data.open === 1 ? words.oneOpen : fill(words.open, { count: data.open }));
    say(this.about, [fill(words.afterRound, { round: data.round }), open].filter(Boolean).join(" · "));
    if (data.teams.length) this.tables.append(this.teams(data.teams.slice(0, most)));
    const wanted = folded(search.trim());
    const isFound = (row) => !wanted || folded(`${row.name} ${row.team ?? ""}`).includes(wanted);
    const rows = data.players.filter(isFound).slice(0, most);
    this.tables.append(data.crosstable && most === Infinity ? this.cross(data, rows) : this.players(data, rows));
  }

  teams(rows) {
    const heads = [
      head("#", words.rank, "number"),
      head(words.team),
      head(words.matchPoints, words.matchPoints, "number"),
      head(words.boardPoints, words.boardPoints, "number"),
    ];
    const lines = rows.map((row) =>
      make(
        "tr",
        "",
        {},
        number(row.rank),
        make("th", "who", { scope: "row" }, make("span", "name", {}, row.name)),
        make("td", "number points", {}, String(row.match_points)),
        number(points(row.board_points)),
      ),
    );
    return table(words.teams, heads, lines, "ranking");
  }

  line(data, row, ...more) {
    const place = isShared(data) ? [make("td", "number place", {}, String(data.players.indexOf(row) + 1))] : [];
    const rating = make("td", "number rating", {}, row.rating ? String(row.rating) : "");
    const sum = make("td", "number points", {}, points(row.points));
    const tieBreaks = row.tie_breaks.map((value, at) => make("td", tieBreakClass(at), {}, value === null ? "" : points(value)));
    return make("tr", "", {}, number(row.rank), ...place, who(row), rating, sum, ...tieBreaks, ...more);
  }

  heads(data, ...more) {
    const rank = isShared(data) ? head(words.rank, words.rank, "number") : head("#", words.rank, "number");
    const place = isShared(data) ? [head("#", words.place, "number place")] : [];
    const rating = head(words.rating, words.rating, "number rating");
    const tieBreaks = data.tie_breaks.map((of, at) => head(...words.tieBreaks[of], tieBreakClass(at)));
    return [rank, ...place, head(words.player), rating, head(words.pointsOf, words.pointsOf, "number"), ...tieBreaks, ...more];
  }

  players(data, rows) {
    const rounds = [...new Set(data.players.flatMap(({ results }) => results.map(({ round }) => round)))].sort((a, b) => a - b);
    const heads = rounds.map((round) => head(String(round), `${words.round} ${round}`, "game"));
    const lines = rows.map((row) => {
      const cells = rounds.map((round) => {
        const of = row.results.filter((one) => one.round === round);
        const games = of.map((one) => {
          if (one.opponent === null) return one.score === null ? "–" : `– ${points(one.score)}`;
          return game(one, data.players, (score) => `${one.opponent + 1}${words[`${one.color}Letter`]} ${score}`);
        });
        return make("td", "game", {}, ...games);
      });
      return this.line(data, row, ...cells);
    });
    return table(words.players, this.heads(data, ...heads), lines, "ranking");
  }

  /** Each player's results against each other player. */
  cross(data, rows) {
    const { players } = data;
    const heads = players.map((player, at) => head(String(at + 1), player.name, "game"));
    const lines = rows.map((row) => {
      const cells = players.map((other, at) => {
        if (other === row) return make("td", "game self", {}, "×");
        const games = row.results.filter(({ opponent }) => opponent === at);
        return make("td", "game", {}, ...games.map((one) => game(one, players, (score) => score)));
      });
      return this.line(data, row, ...cells);
    });
    return table(words.players, this.heads(data, ...heads), lines, "ranking cross");
  }
}
