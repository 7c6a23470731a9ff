// A line with the results of a round, for a video.

import { make } from "./dom.js";
import { tableName } from "./tables.js";
import { lastName, outcome, words } from "./words.js";

/** Speed of the line, in times its height per second. */
const SPEED = 2.2;

export class Ticker {
  constructor() {
    this.track = make("div", "track");
    this.element = make("div", "ticker", {}, this.track);
  }

  /** Shows the results of a round's finished games. */
  update(games, round) {
    const over = games.filter(({ live, result: of }) => !live && of !== "*");
    const texts = over.map((game) => [
      tableName(game.table),
      lastName(game.white.name),
      outcome(game),
      lastName(game.black.name),
    ]);
    const shown = JSON.stringify([round, texts]);
    if (shown === this.shown) return;
    this.shown = shown;
    const item = ([table, white, score, black]) =>
      make("span", "item", {}, make("span", "table", {}, table), ` ${white} `, make("b", "", {}, score), ` ${black}`);
    const line = () => {
      const head = make("span", "item round", {}, `${words.round} ${round}`);
      const none = texts.length ? [] : [make("span", "item", {}, words.noResults)];
      return make("span", "line", {}, head, ...texts.map(item), ...none);
    };
    this.track.getAnimations().forEach((one) => one.cancel());
    this.track.replaceChildren(line());
    const width = this.track.firstChild.getBoundingClientRect().width;
    if (width <= this.element.clientWidth) return;
    // A second copy follows the first without a gap.
    const copy = line();
    copy.setAttribute("aria-hidden", "true");
    this.track.append(copy);
    const duration = (1000 * width) / (SPEED * this.element.clientHeight);
    this.track.animate({ transform: ["none", `translateX(${-width}px)`] }, { duration, iterations: Infinity });
  }
}
