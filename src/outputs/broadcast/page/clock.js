// Clocks that run in the browser, from the time at which they were read.

/** What the server's clock is ahead of the browser's, in milliseconds: between these two. */
let least = -Infinity;
let most = Infinity;

/** Below this, tenths of a second are shown. */
const HURRY = 20000;

/** A server wrote `date` into an answer that was asked for at `sent` and came at `received`. */
export function compare(date, sent, received, age) {
  const written = Date.parse(date ?? "") + 1000 * (Number(age) || 0);
  if (Number.isNaN(written)) return;
  // The header has whole seconds.
  const [low, high] = [written - received, written + 1000 - sent];
  if (low > most || high < least) [least, most] = [low, high];
  else [least, most] = [Math.max(least, low), Math.min(most, high)];
}

/** The time of the server, in milliseconds since 1970. */
export function now() {
  // A browser that may be right is believed.
  const ahead = least <= 0 && most >= 0 ? 0 : (least + most) / 2;
  return Date.now() + (Number.isFinite(ahead) ? ahead : 0);
}

/** What a side has left, in milliseconds; null where nobody knows. */
export function left(clock, side, at = now()) {
  const shown = clock?.[`${side}_ms`] ?? null;
  if (shown === null || clock.running !== side || clock.as_of === null) return shown;
  return Math.max(0, shown - Math.max(0, at - clock.as_of));
}

/** A time as clocks show it: "1:02:11", "0:58", and "0:12.3" where it is short and runs. */
export function text(ms, runs = false) {
  if (ms === null) return "";
  const seconds = Math.floor(ms / 1000);
  const two = (number) => String(number).padStart(2, "0");
  const [hours, minutes] = [Math.floor(seconds / 3600), Math.floor(seconds / 60) % 60];
  const shown = hours ? `${hours}:${two(minutes)}:${two(seconds % 60)}` : `${minutes}:${two(seconds % 60)}`;
  return runs && ms < HURRY ? `${shown}.${Math.floor(ms / 100) % 10}` : shown;
}

/** How long a move took, as people write it: "12s", "3:05". */
export function taken(ms) {
  const seconds = Math.round(ms / 1000);
  return seconds < 60 ? `${seconds}s` : text(seconds * 1000);
}

/** What has to be drawn as time passes: functions that return whether tenths are seen. */
const drawn = new Set();
let timer = 0;

/** Draws once a second from now on, or ten times where tenths are seen. */
export function tick() {
  clearTimeout(timer);
  let hurry = false;
  if (!document.hidden) for (const one of drawn) hurry = one() || hurry;
  timer = setTimeout(tick, hurry ? 100 : 1000);
}

/** Has something drawn as time passes. */
export function follow(one) {
  drawn.add(one);
}

/** Whether a side's clock shows tenths. */
export function hurries(clock, side) {
  return clock?.running === side && (left(clock, side) ?? HURRY) < HURRY;
}
