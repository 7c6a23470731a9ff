// Clocks that count down in the browser from the time of their last reading.

/** Bounds of the server clock minus the browser clock, in milliseconds. */
let least = -Infinity;
let most = Infinity;

/** Remaining time below which a clock shows tenths of a second, in milliseconds. */
const HURRY = 20000;

/** Narrows the bounds by a response: its Date and Age headers, and the times of request and response. */
export function compare(date, sent, received, age) {
  const written = Date.parse(date ?? "") + 1000 * (Number(age) || 0);
  if (Number.isNaN(written)) return;
  // The Date header is cut to whole seconds.
  const [low, high] = [written - received, written + 1000 - sent];
  if (low > most || high < least) [least, most] = [low, high];
  else [least, most] = [Math.max(least, low), Math.min(most, high)];
}

/** The time of the server, in milliseconds since 1970. */
export function now() {
  // The browser's clock is used unchanged if the bounds allow it.
  const ahead = least <= 0 && most >= 0 ? 0 : (least + most) / 2;
  return Date.now() + (Number.isFinite(ahead) ? ahead : 0);
}

/** The remaining time of a side in milliseconds; null if unknown. */
export function left(clock, side, at = now()) {
  const shown = clock?.[`${side}_ms`] ?? null;
  if (shown === null || clock.running !== side || clock.as_of === null) return shown;
  return Math.max(0, shown - Math.max(0, at - clock.as_of));
}

/** A time as clocks show it: "1:02:11", "0:58", and "0:12.3" if it runs and is below `HURRY`. */
export function text(ms, runs = false) {
  if (ms === null) return "";
  const seconds = Math.floor(ms / 1000);
  const two = (number) => String(number).padStart(2, "0");
  const [hours, minutes] = [Math.floor(seconds / 3600), Math.floor(seconds / 60) % 60];
  const shown = hours ? `${hours}:${two(minutes)}:${two(seconds % 60)}` : `${minutes}:${two(seconds % 60)}`;
  return runs && ms < HURRY ? `${shown}.${Math.floor(ms / 100) % 10}` : shown;
}

/** The time taken for a move, as in "12s" or "3:05". */
export function taken(ms) {
  const seconds = Math.round(ms / 1000);
  return seconds < 60 ? `${seconds}s` : text(seconds * 1000);
}

/** Functions called on each tick. Each draws clocks and returns whether any shows tenths of a second. */
const drawn = new Set();
let timer = 0;

/** Draws now and then once a second, or ten times a second if tenths are shown. */
export function tick() {
  clearTimeout(timer);
  let hurry = false;
  if (!document.hidden) for (const one of drawn) hurry = one() || hurry;
  timer = setTimeout(tick, hurry ? 100 : 1000);
}

/** Registers a function to be called on each tick. */
export function follow(one) {
  drawn.add(one);
}

/** Whether a side's clock shows tenths. */
export function hurries(clock, side) {
  return clock?.running === side && (left(clock, side) ?? HURRY) < HURRY;
}
