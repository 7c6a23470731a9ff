// Links of a hub to the desks of the halls.

import { make } from "/page/dom.js";
import { fill, words } from "./words.js";

/** The halls of these boards, each as {daemon, desk}, sorted by name. `desk` is null if its address is not announced. */
export function halls(boards) {
  const known = new Map();
  for (const { hall } of boards) {
    if (hall && !known.get(hall.daemon)?.desk) known.set(hall.daemon, hall);
  }
  return [...known.values()].sort((one, other) => one.daemon.localeCompare(other.daemon, undefined, { numeric: true }));
}

/** A link to a part of a hall's desk; its name alone if the address is not known. */
export function toHall({ daemon, desk }, part, text) {
  if (!/^https?:/.test(desk ?? "")) return make("span", "", {}, fill(words.inHalls.unknown, { hall: daemon }));
  return make("a", "", { href: `${desk}${part}`, target: "_blank", rel: "noopener" }, fill(text, { hall: daemon }));
}

/** A list with a link to the same part of each hall's desk. */
export class HallLinks {
  constructor(part, text) {
    Object.assign(this, { part, text });
    this.element = make("ul", "hall-links");
  }

  update(boards) {
    const all = halls(boards);
    const key = JSON.stringify(all);
    if (key === this.shown) return;
    this.shown = key;
    this.element.replaceChildren(...all.map((hall) => make("li", "", {}, toHall(hall, this.part, this.text))));
  }
}

/** A menu in the head of the page, with the past games of each hall. */
export class HallMenu {
  constructor() {
    this.links = new HallLinks("#/games", words.inHalls.games);
    const summary = make("summary", "to-past", {}, words.parts.games);
    this.element = make("details", "menu", {}, summary, this.links.element);
    this.element.addEventListener("keydown", (event) => {
      if (event.key !== "Escape" || !this.element.open) return;
      event.stopPropagation();
      this.element.open = false;
      summary.focus();
    });
    // A click elsewhere closes the menu.
    this.close = (event) => {
      if (!this.element.contains(event.target)) this.element.open = false;
    };
    addEventListener("click", this.close);
  }

  stop() {
    removeEventListener("click", this.close);
  }

  update(boards) {
    this.links.update(boards);
  }
}
