// The texts of the page, in English and in German.

import { REASONS } from "./reasons.js";

const ENGLISH = {
  all: "All",
  playing: "Playing",
  pinned: "Pinned",
  show: "Which boards",
  team: "Team",
  allTeams: "All teams",
  round: "Round",
  board: "Board",
  boards: "boards",
  oneBoard: "board",
  live: "playing",
  projector: "Projector",
  leave: "End",
  page: "Page",
  white: "White",
  black: "Black",
  whiteLetter: "w",
  blackLetter: "b",
  nobody: "?",
  pin: "Pin board",
  back: "All boards",
  first: "To the start",
  before: "One move back",
  after: "One move on",
  last: "To the last move",
  flip: "Turn the board",
  moves: "Moves",
  start: "Start position",
  clocks: "Clocks",
  curve: "Time left of both players, move by move",
  withBoard: "With a board",
  grid: "Boards",
  results: "Results",
  standings: "Standings",
  opponent: "Opponent",
  color: "Colour",
  bye: "bye",
  forfeit: "by forfeit",
  playingNow: "playing",
  gamesOfPlayer: "Games of {name}",
  noPlayer: "This event has no player of this name.",
  fideId: "FIDE",
  ranked: "rank {rank}",
  onePoint: "point",
  pointsWord: "points",
  oneGame: "from 1 game",
  fromGames: "from {count} games",
  views: "Views",
  search: "Search for a player",
  notBegun: "Not begun",
  finished: "Finished",
  withoutMatch: "Other boards",
  otherBoards: "Other boards",
  starts: "Start {time}",
  result: "Result",
  rank: "Rank",
  player: "Player",
  rating: "Rating",
  pointsOf: "Points",
  gamesOf: "Games",
  matchPoints: "Match points",
  boardPoints: "Board points",
  against: "against",
  teams: "Teams",
  players: "Players",
  noStandings: "There are no standings yet.",
  noResults: "no results yet",
  resultOpen: "result open",
  openResult: "open",
  afterRound: "After round {round}",
  open: "{count} games without a result",
  oneOpen: "one game without a result",
  place: "Number in this list",
  rankedBy: "Players with equal points are ranked by: {names}. Players who are equal in all of them share a rank.",
  equalPoints: "Players with equal points share a rank.",
  roundsUnknown: "There are no tie-breaks, because the earlier rounds are not known game by game. Players with equal points share a rank.",
  tieBreaks: {
    direct_encounter: ["DE", "direct encounter"],
    wins: ["Wins", "wins"],
    sonneborn_berger: ["SB", "Sonneborn-Berger"],
    koya: ["Koya", "Koya"],
    buchholz_cut_1: ["BH-C1", "Buchholz Cut 1"],
    buchholz: ["BH", "Buchholz"],
    progressive: ["Prog.", "progressive score"],
  },
  previousBoard: "Previous board",
  nextBoard: "Next board",
  linkBoard: "Link to this board",
  linkGame: "Link to this game",
  pgn: "PGN of the game",
  pgnRound: "PGN of the round",
  follows: "Following: new moves are shown at once",
  notFollowing: "Not following: go to the last move",
  noBoard: "This round has no such board.",
  noneShown: "There are no boards to show here.",
  waiting: "Waiting for the games.",
  hidden: "The position is not known yet.",
  lost: "No connection. You see the state at {time}; the page reconnects by itself.",
  delayed: "Moves are shown {time} later.",
  restarts: "The broadcast is restarting. New moves will follow.",
  minutes: "min",
  seconds: "s",
  took: "took",
  matches: "Matches",
  teamScore: "{0} {1} to {2} {3}",
  reasons: REASONS.en,
};

const GERMAN = {
  all: "Alle",
  playing: "Laufende",
  pinned: "Gemerkte",
  show: "Welche Bretter",
  team: "Mannschaft",
  allTeams: "Alle Mannschaften",
  round: "Runde",
  board: "Brett",
  boards: "Bretter",
  oneBoard: "Brett",
  live: "laufen",
  projector: "Projektor",
  leave: "Beenden",
  page: "Seite",
  white: "Weiß",
  black: "Schwarz",
  whiteLetter: "w",
  blackLetter: "s",
  nobody: "?",
  pin: "Merken: Brett",
  back: "Alle Bretter",
  first: "Zum Anfang",
  before: "Einen Zug zurück",
  after: "Einen Zug weiter",
  last: "Zum letzten Zug",
  flip: "Brett drehen",
  moves: "Züge",
  start: "Ausgangsstellung",
  clocks: "Uhren",
  curve: "Bedenkzeit beider Spieler, Zug um Zug",
  withBoard: "Mit Brett",
  grid: "Bretter",
  results: "Ergebnisse",
  standings: "Tabelle",
  opponent: "Gegner",
  color: "Farbe",
  bye: "spielfrei",
  forfeit: "kampflos",
  playingNow: "läuft",
  gamesOfPlayer: "Partien von {name}",
  noPlayer: "In diesem Turnier gibt es niemanden mit diesem Namen.",
  fideId: "FIDE",
  ranked: "Platz {rank}",
  onePoint: "Punkt",
  pointsWord: "Punkte",
  oneGame: "aus 1 Partie",
  fromGames: "aus {count} Partien",
  views: "Ansichten",
  search: "Spieler suchen",
  notBegun: "Noch nicht begonnen",
  finished: "Beendet",
  withoutMatch: "Andere Bretter",
  otherBoards: "Andere Bretter",
  starts: "Beginn {time}",
  result: "Ergebnis",
  rank: "Platz",
  player: "Spieler",
  rating: "Wertungszahl",
  pointsOf: "Punkte",
  gamesOf: "Partien",
  matchPoints: "Mannschaftspunkte",
  boardPoints: "Brettpunkte",
  against: "gegen",
  teams: "Mannschaften",
  players: "Spieler",
  noStandings: "Es gibt noch keine Tabelle.",
  noResults: "noch keine Ergebnisse",
  resultOpen: "Ergebnis offen",
  openResult: "offen",
  afterRound: "Nach Runde {round}",
  open: "{count} Partien ohne Ergebnis",
  oneOpen: "eine Partie ohne Ergebnis",
  place: "Nummer in dieser Liste",
  rankedBy: "Bei gleich vielen Punkten entscheiden: {names}. Wer in allem gleich ist, teilt den Platz.",
  equalPoints: "Spieler mit gleich vielen Punkten teilen den Platz.",
  roundsUnknown: "Es gibt keine Feinwertungen, weil die früheren Runden nicht Partie für Partie bekannt sind. Spieler mit gleich vielen Punkten teilen den Platz.",
  tieBreaks: {
    direct_encounter: ["DV", "direkter Vergleich"],
    wins: ["Siege", "Siege"],
    sonneborn_berger: ["SB", "Sonneborn-Berger"],
    koya: ["Koya", "Koya"],
    buchholz_cut_1: ["BH-1", "Buchholz ohne den schwächsten Gegner"],
    buchholz: ["BH", "Buchholz"],
    progressive: ["Fortschr.", "Fortschrittswertung"],
  },
  previousBoard: "Voriges Brett",
  nextBoard: "Nächstes Brett",
  linkBoard: "Link zu diesem Brett",
  linkGame: "Link zu dieser Partie",
  pgn: "PGN der Partie",
  pgnRound: "PGN der Runde",
  follows: "Neue Züge werden gezeigt",
  notFollowing: "Neue Züge werden nicht gezeigt: zum letzten Zug",
  noBoard: "Dieses Brett gibt es in der Runde nicht.",
  noneShown: "Hier ist kein Brett zu zeigen.",
  waiting: "Warten auf die Partien.",
  hidden: "Die Stellung ist noch nicht bekannt.",
  lost: "Keine Verbindung. Zu sehen ist der Stand von {time}; es geht von selbst weiter.",
  delayed: "Züge werden {time} später gezeigt.",
  restarts: "Die Übertragung wird neu gestartet. Neue Züge folgen.",
  minutes: "min",
  seconds: "s",
  took: "für",
  matches: "Wettkämpfe",
  teamScore: "{0} {1} zu {2} {3}",
  reasons: REASONS.de,
};

/** Letters of the pieces in languages other than English. */
const PIECES = { de: { K: "K", Q: "D", R: "T", B: "L", N: "S" } };

const asked = new URLSearchParams(location.search).get("lang") ?? navigator.language ?? "en";

/** The language of the page: "de" or "en". */
export const language = asked.toLowerCase().startsWith("de") ? "de" : "en";

/** The locale of dates and times: the browser's, if it belongs to the page's language. */
export const locale = navigator.language?.toLowerCase().startsWith(language) ? navigator.language : { en: "en-GB", de: "de" }[language];

/** The texts in this language. */
export const words = language === "de" ? GERMAN : ENGLISH;

/** Replaces {name} in a sentence by values. */
export function fill(sentence, values) {
  return sentence.replace(/\{(\w+)\}/g, (_, name) => values[name] ?? "");
}

/** A move in SAN with the language's letters of the pieces. */
export function move(san) {
  const letters = PIECES[language];
  if (!san) return "–";
  return letters ? san.replace(/[KQRBN]/g, (piece) => letters[piece]) : san;
}

/** A result in typographic form, as in "½–½"; empty until there is one. */
export function result(text) {
  if (text === "*") return "";
  return text.replaceAll("1/2", "½").replace("-", "–");
}

/** Signs of White and Black for results by forfeit. */
const FORFEITS = { "1-0": ["+", "–"], "0-1": ["–", "+"], "0-0": ["–", "–"] };

function forfeit({ result: text, reason }) {
  return reason === "default" ? FORFEITS[text] : undefined;
}

/** The result of a game, with signs for a forfeit; empty until there is one. */
export function outcome(game) {
  return forfeit(game)?.join("/") ?? result(game.result);
}

/** A side's part of a game's result; empty until there is one. */
export function score(game, side) {
  const at = side === "white" ? 0 : 1;
  return forfeit(game)?.[at] ?? result(game.result).split("–")[at] ?? "";
}

/** Whether a game is over. Its result may still be missing. */
export function isOver({ live, last, result: text }) {
  return !live && (text !== "*" || Boolean(last));
}

/** How a game has ended, with its result if `isWhole` or if there is no reason; empty while it is in progress. */
export function ending(game, isWhole = false) {
  const of = outcome(game);
  const reason = of || game.reason === "adjourned" ? words.reasons[game.reason] : "";
  if (!of) return isOver(game) ? reason || words.resultOpen : "";
  return isWhole || !reason ? [of, reason].filter(Boolean).join(" · ") : reason;
}

/** Points with a fraction of quarters: 2.5 is "2½". */
export function points(number) {
  const whole = Math.floor(number);
  const part = ["", "¼", "½", "¾"][Math.round((number - whole) * 4)] ?? "";
  return part && !whole ? part : `${whole}${part}`;
}

/** A duration in milliseconds as text, as in "15 min". */
export function duration(ms) {
  return ms % 60000 ? `${Math.round(ms / 1000)} ${words.seconds}` : `${ms / 60000} ${words.minutes}`;
}

/** A text for comparisons: in lower case, without accents. */
export function folded(text) {
  return text.normalize("NFD").replace(/\p{M}/gu, "").toLowerCase();
}

/** A name for narrow places, as in "Carlsen, M." */
export function shortName(name) {
  if (!name) return words.nobody;
  const [last, first] = name.split(",").map((part) => part.trim());
  return first ? `${last}, ${[...first][0]}.` : last;
}

/** A double name with initials after its first part, as in "Leutheusser-S." */
export function initialed(name) {
  const [first, ...others] = name.split("-");
  return [first, ...others.map((part) => `${[...part][0] ?? ""}.`)].join("-");
}

/** The last name of a player. */
export function lastName(name) {
  return name?.split(",")[0].trim() || words.nobody;
}

/** A time of day with seconds. */
export function timeOfDay(ms) {
  const time = { hour: "2-digit", minute: "2-digit", second: "2-digit", hourCycle: "h23" };
  return new Date(ms).toLocaleTimeString(language, time);
}

/** A time of day; with the date if it is not today. */
export function moment(ms) {
  const [at, today] = [new Date(ms), new Date()];
  const time = { hour: "2-digit", minute: "2-digit", hourCycle: "h23" };
  const isToday = at.toDateString() === today.toDateString();
  return isToday
    ? at.toLocaleTimeString(locale, time)
    : at.toLocaleString(locale, { weekday: "short", day: "numeric", month: "short", ...time });
}

/** A date such as "2026-11-28" in words; other texts stay as they are. */
export function date(text) {
  if (!/^\d{4}-\d\d-\d\d$/.test(text ?? "")) return text;
  return new Date(`${text}T12:00`).toLocaleDateString(locale, { weekday: "short", day: "numeric", month: "short", year: "numeric" });
}
