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

/** A side's part of a result. */
export function score(text, side) {
  if (text === "*") return "";
  return result(text).split("–")[side === "white" ? 0 : 1];
}

/** Points with a fraction: 2.5 is "2½". */
export function points(number) {
  const whole = Math.floor(number);
  const half = number > whole ? "½" : "";
  return half && !whole ? half : `${whole}${half}`;
}

/** A duration in milliseconds as text, as in "15 min". */
export function duration(ms) {
  return ms % 60000 ? `${Math.round(ms / 1000)} ${words.seconds}` : `${ms / 60000} ${words.minutes}`;
}
