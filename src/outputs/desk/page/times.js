// The times to set on the clock after an incident, beside those that the clock shows now.

import * as clock from "/page/clock.js";
import { make, mark, say } from "/page/dom.js";
import { words } from "./words.js";

const SIDES = ["white", "black"];

/** Whole seconds of a time such as "1:02:11". */
function seconds(text) {
  return text.split(":").reduce((all, part) => all * 60 + Number(part), 0);
}

/** The pairs of times that an incident offers, as a list of [label, times], the usual ones first. */
function offered(values) {
  const { opened } = words;
  const all = [
    [opened.timesBefore, { white: values.exact_white, black: values.exact_black }],
    [opened.timesNow, { white: values.keep_white, black: values.keep_black }],
  ];
  return all.filter(([, { white, black }]) => white !== undefined && black !== undefined);
}

export class Times {
  constructor() {
    const { opened } = words;
    this.live = Object.fromEntries(SIDES.map((side) => [side, make("td", "clock")]));
    this.body = make("tbody");
    const head = make("tr", "", {}, make("td"), ...SIDES.map((side) => make("th", "", { scope: "col" }, words[side])));
    const now = make("tr", "live", {}, make("th", "", { scope: "row" }, opened.clockNow), ...SIDES.map((side) => this.live[side]));
    this.now = make("tbody", "", {}, now);
    this.included = make("p", "small", {}, opened.included);
    this.title = make("caption", "", {}, opened.times);
    const table = make("table", "", {}, this.title, make("thead", "", {}, head), this.now, this.body);
    this.element = make("div", "set", { hidden: "" }, table, this.included);
    this.rows = [];
  }

  /** Shows the times that an incident's evidence offers, if any. */
  update(values, status) {
    this.status = status;
    // A past game has no clock.
    this.now.hidden = !status.clock;
    const all = offered(values);
    const key = JSON.stringify([all, values.included]);
    if (key !== this.shown) {
      this.shown = key;
      this.rows = all.map(([label, times]) => {
        const cells = SIDES.map((side) => make("td", "to-set", {}, times[side]));
        const done = make("span", "done", { hidden: "" }, ` ${words.opened.isSet}`);
        const element = make("tr", "", {}, make("th", "", { scope: "row" }, label, done), ...cells);
        return { element, done, wanted: SIDES.map((side) => seconds(times[side])) };
      });
      this.body.replaceChildren(...this.rows.map(({ element }) => element));
      this.element.hidden = all.length === 0;
      this.included.hidden = values.included !== "yes";
    }
    this.pass();
  }

  /** Updates the times that the clock shows now; returns whether it shows tenths of a second. */
  pass() {
    if (this.element.hidden || !this.status) return false;
    const { clock: shown, connected } = this.status;
    const left = SIDES.map((side) => (connected && shown ? clock.left(shown, side) : null));
    let hurries = false;
    SIDES.forEach((side, at) => {
      const runs = shown?.running === side && connected;
      say(this.live[side], left[at] === null ? "–" : clock.text(left[at], runs && left[at] > 0));
      this.live[side].classList.toggle("runs", runs);
      hurries = hurries || (runs && left[at] > 0 && clock.hurries(shown, side));
    });
    for (const { element, done, wanted } of this.rows) {
      const isSet = wanted.every((one, at) => left[at] !== null && Math.floor(left[at] / 1000) === one);
      mark(element, "class", isSet ? "is-set" : null);
      done.hidden = !isSet;
    }
    return hurries;
  }
}
