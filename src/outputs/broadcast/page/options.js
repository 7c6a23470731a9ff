// Options from the page's URL, and the viewer's stored choices.

const search = new URLSearchParams(location.search);

/** An option in the query before or after the #; "" if it has no value, null if it is missing. */
export function option(name) {
  const inside = new URLSearchParams(location.hash.split("?")[1] ?? "");
  return search.get(name) ?? inside.get(name);
}

/** Decodes a part of the URL, which somebody may have typed. */
function decoded(text) {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

/** The round, the board, the player and the view in the URL; null for each that is missing. */
export function place() {
  const path = location.hash.slice(1).split("?")[0];
  const named = (what) => Number(new RegExp(`/${what}/(\\d{1,5})(/|$)`).exec(path)?.[1]) || null;
  const player = /^\/player\/([^/]+)$/.exec(path)?.[1] ?? null;
  if (player !== null) return { round: null, board: null, player: decoded(player), view: "player" };
  const view = /\/(results|standings)(\/|$)/.exec(path)?.[1] ?? null;
  return { round: named("round"), board: named("board"), player: null, view };
}

/** The fragment for a round, or for a board or a view in it. Without a round it means the current one. */
export function address(round, board, view) {
  const parts = [round ? `/round/${round}` : "", board ? `/board/${board}` : "", view ? `/${view}` : ""].join("");
  return `#${parts || "/"}`;
}

/** The fragment for a player. */
export function playerAddress(name) {
  return `#/player/${encodeURIComponent(name)}`;
}

/** The tables in the option `boards`; null for all. */
export function boards() {
  const asked = (option("boards") ?? "").split(",").map(Number).filter(Boolean);
  return asked.length ? asked : null;
}

// Choices for this visit, also where localStorage is not available, as in some frames.
const kept = new Map();

function recall(name) {
  try {
    return localStorage.getItem(`kiebitz-${name}`) ?? kept.get(name) ?? null;
  } catch {
    return kept.get(name) ?? null;
  }
}

function remember(name, value) {
  kept.set(name, value);
  try {
    localStorage.setItem(`kiebitz-${name}`, value);
  } catch {
    // The value stays in `kept`.
  }
}

const pins = new Set((recall("pins") ?? "").split(",").map(Number).filter(Boolean));

export function isPinned(table) {
  return pins.has(table);
}

/** Pins or unpins a table. */
export function pin(table) {
  if (!pins.delete(table)) pins.add(table);
  remember("pins", [...pins].join(","));
}

/** The boards to show: "all", "boards", "playing" or "pinned"; null without a choice. */
export function filter() {
  const asked = kept.get("show") ?? option("show") ?? recall("show");
  return ["all", "boards", "playing", "pinned"].includes(asked) ? asked : null;
}

export function setFilter(value) {
  remember("show", value);
}
