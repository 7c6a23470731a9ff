// Results of games that are over, and of tables without a board.

import { make } from "/page/dom.js";
import { Deed, field, fold, told } from "./deed.js";
import { results } from "./game.js";
import { may } from "./session.js";
import { fill, words } from "./words.js";

/** Sends commands about games that are not on a board. `announce` announces a text to screen readers. */
export class Entries {
  constructor(session, source, announce) {
    Object.assign(this, { session, source, announce });
  }

  /** Context for deeds about `status`. A command about a table may go to any board. */
  context(status) {
    const anyBoard = () => this.source.boards.keys().next().value ?? "";
    return {
      status,
      may: (command) => may(this.session, command),
      send: (command) => this.source.command(status.board ?? anyBoard(), command),
      did: (job) => this.announce(`${job.label}. ${told(job.answer)}`),
    };
  }

  /** Form for the result of a past game; null if the user may not change it. */
  ofGame(game) {
    const context = this.context({ game, board: game.board });
    if (!context.may("set_result")) return null;
    const { element, update } = results(context, true);
    return {
      element,
      update(now) {
        context.status.game = now;
        update(context.status);
      },
    };
  }

  /** Form for the result of a table in any round; null if the user may not enter it. */
  ofTable() {
    const context = this.context({});
    if (!context.may("set_result")) return null;
    const number = (max) => make("input", "", { type: "number", min: "1", max, inputmode: "numeric", autocomplete: "off" });
    const [round, table] = [number("999"), number("9999")];
    const choices = Object.entries(words.results).map(([value, text]) => make("option", "", { value }, text));
    const chosen = make("select", "", {}, ...choices);
    const enter = new Deed(context, {
      label: words.deeds.resultGo,
      tone: "main",
      command() {
        const missing = [round, table].find((one) => !one.value);
        missing?.focus();
        return missing ? null : { do: "set_result", result: chosen.value, round: Number(round.value), table: Number(table.value) };
      },
      ask: () => fill(words.review.tableAsk, { round: round.value, table: table.value, result: words.results[chosen.value] }),
    });
    const place = make("div", "pair", {}, field(words.deeds.roundNumber, round), field(words.table, table));
    const help = make("p", "quiet", {}, words.review.tableHelp);
    return fold(words.review.tableResult, help, place, field(words.deeds.result, chosen), enter.element);
  }
}
