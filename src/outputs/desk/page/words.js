// Texts of the desk in the language of the browser, and functions that format values.

import { fill, language, locale, move, result } from "/page/words.js";
import { tableName } from "/page/tables.js";
import { text } from "/page/clock.js";
import { owner } from "./position.js";

export { fill, language, locale, move, result };

/** Only the texts of the page's language are loaded. */
export const words = language === "de" ? (await import("./german.js")).GERMAN : (await import("./english.js")).ENGLISH;

/** Texts that only some parts of the page need, by their name in `words`. */
const MORE =
  language === "de"
    ? {
        review: () => import("./german-review.js"),
        setup: () => import("./german-setup.js"),
        sheet: () => import("./german-results.js"),
      }
    : {
        review: () => import("./english-review.js"),
        setup: () => import("./english-setup.js"),
        sheet: () => import("./english-results.js"),
      };

/** Loads the texts with this name into `words`. */
export async function loadTexts(name) {
  words[name] ??= (await MORE[name]()).TEXTS;
}

/** Location of a line: "Table 37", the board's name, or for a whole hall the name of its computer. */
export function place(status) {
  if (typeof status.hall === "string") return status.hall;
  if (status.members) return fill(words.together.place, { n: status.members.length });
  if (status.isShared) return `${words.table} ${tableName(status.table)} · ${status.board}`;
  return status.table ? `${words.table} ${tableName(status.table)}` : status.board;
}

/** Names a board by its table, with its own name in brackets; by its name alone while it has no table. */
export function nameAtTable({ board, stands_at: at }) {
  return at === null ? board : `${words.table} ${tableName(at)} (${board})`;
}

/** Formats a time control in the seconds of PGN as clocks show it: "1:30:00 + 30 s" for "5400+30". Others are as typed. */
export function controlText(control) {
  const [, base, increment] = /^(\d+)(?:\+(\d+))?$/.exec(control ?? "") ?? [];
  // From this number on, bare numbers are seconds.
  if (base === undefined || Number(base) < 180) return control;
  const start = text(Number(base) * 1000);
  return Number(increment) ? `${start} + ${increment} ${words.units.s}` : start;
}

/** Formats the time since `since`: "40 s", "2 min", "1 h 5 min". */
export function ago(since, now) {
  const seconds = Math.max(0, Math.floor((now - since) / 1000));
  const minutes = Math.floor(seconds / 60);
  if (minutes < 1) return `${seconds} ${words.units.s}`;
  if (minutes < 60) return `${minutes} ${words.units.min}`;
  const hours = Math.floor(minutes / 60);
  return hours > 9 ? `${hours} ${words.units.h}` : `${hours} ${words.units.h} ${minutes % 60} ${words.units.min}`;
}

/** Formats a time of day; with milliseconds if `precise`. */
export function time(at, precise = false) {
  const date = new Date(at);
  const shown = date.toLocaleTimeString(locale, { hourCycle: "h23" });
  return precise ? `${shown}.${String(date.getMilliseconds()).padStart(3, "0")}` : shown;
}

/** Formats a time of day in hours and minutes. */
export function shortTime(at) {
  return new Date(at).toLocaleTimeString(locale, { hour: "2-digit", minute: "2-digit", hourCycle: "h23" });
}

/** How an offence ends its game: "lost", "drawn", or "open" if that depends on the position; null if the game goes on. */
export function ending({ severity, evidence }) {
  const { penalty, mate } = evidence?.values ?? {};
  if (severity !== "violation" || !["lost", "at_once"].includes(penalty)) return null;
  if (["no_material", "cannot"].includes(mate)) return "drawn";
  return ["unknown", "unknown_material"].includes(mate) ? "open" : "lost";
}

/** Title of an incident or a line: kind, player, and from the second offence on its number and what follows from it. */
export function titleOf(incident) {
  if (incident.title) return incident.title;
  const { kind, color, evidence } = incident;
  const offence = evidence?.values?.offence ?? 0;
  const ends = ending(incident);
  const nth = offence > 1 ? words.nths[offence] ?? fill(words.nth, { n: offence }) : "";
  const follows = [nth, ends && words.ends[ends]].filter(Boolean).join(": ");
  return [words.kinds[kind] ?? kind, color && words[color], follows].filter(Boolean).join(" · ");
}

/** The sentences of a text. A full stop in a number or after an abbreviation does not end a sentence. */
export function sentences(text) {
  return text.split(/(?<=[^\s.\d][.!?])(?<!\b(?:Art|Nr|No|bzw|vgl|z\. ?B|u\. ?a|d\. ?h)\.)\s+(?=\p{Lu})/u);
}

/** Formats the hour and minute of a time, with the day unless it is today. */
export function hour(at, now = Date.now()) {
  const date = new Date(at);
  const shown = date.toLocaleTimeString(locale, { hour: "2-digit", minute: "2-digit", hourCycle: "h23" });
  const isToday = date.toDateString() === new Date(now).toDateString();
  return isToday ? shown : `${date.toLocaleDateString(locale, { day: "numeric", month: "short" })}, ${shown}`;
}

/** Fills the text for one or for several things. `texts` is a pair. */
export function count([one, several], n, more = {}) {
  return fill(n === 1 ? one : several, { n, ...more });
}

/** Formats a ply with its number, as in "23. Nf3" or "23... Nf6". */
export function numbered(game, ply) {
  const played = game.moves[ply - 1];
  if (!played) return words.past.start;
  return `${numberOf(game, ply)} ${played.san ? move(played.san) : played.uci ?? "–"}`;
}

/** The number before a ply, as in "23." or "23...". */
export function numberOf(game, ply) {
  const [, turn, , , , count] = game.start_fen.split(" ");
  const at = ply - 1 + (turn === "b" ? 1 : 0);
  return `${(Number(count) || 1) + Math.floor(at / 2)}.${at % 2 ? ".." : ""}`;
}

/** Name of the piece with this letter, with its colour. */
export function piece(letter) {
  return fill(words.piece, { color: words.colors[owner(letter)], piece: words.pieces[letter.toLowerCase()] });
}

/** Formats the time on a clock; "–" if unknown. */
export function shownTime(ms) {
  return ms === null || ms === undefined ? "–" : text(ms);
}

/** Names of the players, as in "Adams, A. – Baker, B."; empty if unknown. */
export function names(game) {
  const players = game?.players;
  if (!players) return "";
  return `${players.white ?? words.nobody} – ${players.black ?? words.nobody}`;
}

/** Advice in the language of the page, else in that of the event. */
export function adviceOf({ advice, advice_in: texts }) {
  return texts?.[language] ?? advice;
}

/** The first sentence of a text. */
export function firstSentence(advice) {
  return sentences(advice)[0];
}

/** "FIDE 2023" for "fide-2023". */
export function edition(name) {
  return name?.startsWith("fide-") ? `FIDE ${name.slice(5)}` : name ?? "";
}

/** Formats a decision: text as typed, a ruling on a claim, or a result with its reason. */
export function decided(decision) {
  const [of, reason] = decision.split(" ");
  if (reason in words.reasons && /^[*\d]/.test(of)) return `${result(of) || "*"}, ${words.reasons[reason]}`;
  return words.rulings[decision] ?? (decision || words.past.closings.decided);
}

/** Describes how an incident ended. */
export function closing(incident) {
  const { past } = words;
  const counts = incident.counts === true ? past.counts : incident.counts === false ? past.countsNot : "";
  const how = past.closings[incident.reason] ?? past.over;
  // The source of the result is stated with the result, and need not be the Laws.
  const closer = incident.reason === "game_over" ? "" : incident.by && (past.closers[incident.by] ?? incident.by);
  const by = incident.decided_by ?? closer;
  const facts = [how, by, counts].filter(Boolean).join(", ");
  return incident.decision ? `${decided(incident.decision)} (${facts})` : facts;
}
