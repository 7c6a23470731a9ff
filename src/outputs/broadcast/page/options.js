// What the address asks for, and what the viewer has chosen.

const search = new URLSearchParams(location.search);

/** An option, before or after the #; "" where it has no value, null where it is not there. */
export function option(name) {
  const inside = new URLSearchParams(location.hash.split("?")[1] ?? "");
  return search.get(name) ?? inside.get(name);
}

/** The place that the address names: a round, a board of it, or neither. */
export function place() {
  const path = location.hash.slice(1).split("?")[0];
  const named = (what) => Number(new RegExp(`/${what}/(\\d{1,5})(/|$)`).exec(path)?.[1]) || null;
  return { round: named("round"), board: named("board") };
}

/** The address of a round, or of a board in it. Without a round it is the one that is played. */
export function address(round, board) {
  const parts = [round ? `/round/${round}` : "", board ? `/board/${board}` : ""].join("");
  return `#${parts || "/"}`;
}

/** Boards that were asked for, by their tables; null: all. */
export function boards() {
  const asked = (option("boards") ?? "").split(",").map(Number).filter(Boolean);
  return asked.length ? asked : null;
}

// Where nothing can be kept, as in some frames, it holds as long as the page is open.
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
    // It is in `kept`.
  }
}

const pins = new Set((recall("pins") ?? "").split(",").map(Number).filter(Boolean));

/** Whether a table is pinned. */
export function isPinned(table) {
  return pins.has(table);
}

/** Pins a table, or no more. */
export function pin(table) {
  if (!pins.delete(table)) pins.add(table);
  remember("pins", [...pins].join(","));
}

/** Which boards are shown: "all", "playing", "pinned". */
export function filter() {
  const asked = kept.get("show") ?? option("show") ?? recall("show");
  return ["playing", "pinned"].includes(asked) ? asked : "all";
}

export function setFilter(value) {
  remember("show", value);
}
