// The results of a round on one page: all tables, with a board or without, and what the boards saw.

import { button, make, mark, say } from "/page/dom.js";
import { tableName } from "/page/tables.js";
import { askedResults, sheet } from "./asked.js";
import { Deed } from "./deed.js";
import { gameAddress } from "./games.js";
import { isPlaying } from "./lines.js";
import { address } from "./list.js";
import { FORFEITS, formatted, stoodSince } from "./round.js";
import { may } from "./session.js";
import { count, fill, hour, names, numberOf, result, words } from "./words.js";

/** Results with a key of their own. */
const KEYS = { 1: "1-0", 5: "1/2-1/2", 0: "0-1" };
/** Choices of a table: result, reason, and text. */
const MAIN = [["1-0", null, "1–0"], ["1/2-1/2", null, "½–½"], ["0-1", null, "0–1"]];

/** Returns any board, for a command about a round: the server ignores its board. */
function anyBoard({ boards }) {
  return boards.keys().next().value ?? "";
}

/** The entry of a result. Its "Undo" has a place of its own, so that no row moves under the finger after a tap. */
class Entry extends Deed {
  constructor(context, about) {
    super(context, about);
    this.button.hidden = true;
    this.undone = make("span", "undo-place");
  }

  stop() {
    super.stop();
    this.button.hidden = true;
  }

  tell(text, how, undo = null) {
    this.undone.replaceChildren(...(undo ? [undo] : []));
    // The pressed button shows what was entered. Remarks, refusals and failures are shown in full.
    this.answer.hidden = how === "" || text === words.deeds.done;
    this.answer.className = `answer ${how}`;
    say(this.answer, text);
  }
}

class Row {
  constructor(round, source, context) {
    this.round = round;
    this.source = source;
    this.hasPast = context.hasPast;
    const texts = words.sheet;
    this.number = make("span", "table");
    this.white = make("span", "name");
    this.black = make("span", "name");
    const player = (side, name) => make("span", `side ${side}`, {}, make("span", "color"), name);
    this.players = make("span", "players", {}, player("white", this.white), player("black", this.black));
    this.seen = make("a", "seen-there");
    this.differs = make("span", "chip warn", { hidden: "" }, texts.differs);
    const seen = make("span", "seen-of", {}, this.seen, " ", this.differs);
    this.entered = make("span", "entered-by");
    this.deed = new Entry(
      { send: (command) => context.send(this.table, command), did: (job) => context.did(this.table, job) },
      { label: texts.result, command: () => null, undo: (command) => this.undo(command), ask: () => null },
    );
    const mayEnter = context.mayEnter;
    const choice = ([of, reason, text]) => {
      const element = button("choice", text, text, () => this.enter(of, reason));
      return { of, reason, text, element };
    };
    this.choices = [...MAIN, ...FORFEITS].map(choice);
    const buttons = this.choices.map(({ element }) => element);
    const main = make("span", "choices-main", {}, ...buttons.slice(0, MAIN.length));
    this.withdraw = button("choice", texts.withdraw, texts.withdraw, () => this.send(this.withdrawal()));
    const rare = make("span", "choices-rare", {}, ...buttons.slice(MAIN.length), this.withdraw);
    this.signed = button("choice signed", words.round.signed, words.round.signed, () => this.sign());
    // On narrow screens the rarer results are folded away.
    this.unfold = button("unfold", texts.more, "⋯", () => mark(this.unfold, "aria-expanded", String(this.group.classList.toggle("unfolded"))));
    mark(this.unfold, "aria-expanded", "false");
    this.shown = make("b", "shown-result");
    this.group = make("div", `result-row ${mayEnter ? "may-enter" : ""}`.trim(), { role: "group", tabindex: "0" });
    const top = make("span", "row-top", {}, this.number, this.players, this.shown, ...(mayEnter ? [this.deed.undone, this.unfold] : []));
    const parts = mayEnter ? [make("span", "row-main", {}, main, this.signed), rare] : [];
    this.group.append(top, ...parts, make("span", "row-foot", {}, seen, this.entered), this.deed.element);
    this.element = make("li", "", {}, this.group);
    this.mayEnter = mayEnter;
  }

  update(table, boards) {
    this.table = table;
    const texts = words.sheet;
    const { result: of, reason, confirmed, decided, signed, seen, board } = table;
    const isEntered = of !== null && confirmed;
    say(this.number, tableName(table.table));
    for (const side of ["white", "black"]) say(this[side], table[side] ?? words.nobody);
    say(this.shown, of === null ? "" : formatted(table));
    mark(this.group, "aria-label", [`${words.table} ${tableName(table.table)}`, names({ players: table }), of === null ? words.round.noResult : formatted(table)].join(". "));
    for (const { of: one, reason: why, text, element } of this.choices) {
      const isThis = of === one && (why === "default") === (reason === "default");
      mark(element, "aria-pressed", String(isThis && isEntered));
      // A result that only the board has shown is marked, but not entered.
      element.classList.toggle("proposed", isThis && !isEntered);
      mark(element, "aria-label", `${text}, ${words.table} ${tableName(table.table)}`);
    }
    this.group.classList.toggle("lacks", of === null && table.over);
    this.group.classList.toggle("has", isEntered);
    mark(this.unfold, "aria-label", `${texts.more}, ${words.table} ${tableName(table.table)}`);
    this.withdraw.disabled = of === null;
    mark(this.withdraw, "aria-label", `${texts.withdraw}, ${words.table} ${tableName(table.table)}`);
    this.signed.disabled = !isEntered;
    mark(this.signed, "aria-pressed", String(signed !== null));
    mark(this.signed, "aria-label", `${words.round.signed}, ${words.table} ${tableName(table.table)}`);
    say(this.entered, [decided && fill(texts.by, { by: decided.by, time: hour(decided.at) }), signed && fill(signed.by === decided?.by ? texts.signedAt : texts.signedBy, { by: signed.by, time: hour(signed.at) })].filter(Boolean).join(" · "));
    this.differs.hidden = !(isEntered && seen?.result && seen.result !== of);
    // Once another game has begun on the board, this one is among the past games.
    const isPast = table.game !== null && boards.get(board)?.game?.game !== table.game && this.hasPast;
    const text = observed(table, boards);
    const target = isPast ? gameAddress(table.game) : address(board);
    // A link without text has no name for screen readers.
    mark(this.seen, "href", text === "" || board === null ? null : target);
    say(this.seen, text);
  }

  /** The command for the current result, or for none. */
  current() {
    const { table, game, result: of, reason } = this.table;
    const place = { do: "set_result", round: this.round, table };
    if (of !== null) return { ...place, result: of, ...(reason ? { reason } : {}) };
    return { ...place, result: "*", ...(game && this.table.ended ? { reason: "arbiter" } : {}) };
  }

  /** The command that withdraws the result. A game stays over. */
  withdrawal() {
    const { table, game } = this.table;
    return { do: "set_result", round: this.round, table, result: "*", ...(game ? { reason: "arbiter" } : {}) };
  }

  /** The command that undoes another one. */
  undo(command) {
    if ("signed" in command) return { ...command, signed: !command.signed };
    const { signed, result: of, confirmed } = this.table;
    // A result that was only seen on the board is withdrawn as a whole, as it cannot be unconfirmed.
    if (of !== null && !confirmed) return this.withdrawal();
    return { ...this.current(), ...(signed ? { signed: true } : {}) };
  }

  enter(of, reason) {
    const { table, result: now, reason: why, confirmed } = this.table;
    const isSame = now === of && (why === "default") === (reason === "default");
    if (isSame && confirmed) return;
    // The reason that the board has shown stays with its result.
    const stays = isSame && why && why !== "default" ? { reason: why } : {};
    const command = { do: "set_result", round: this.round, table, result: of, ...(reason ? { reason } : stays) };
    const [, , text] = [...MAIN, ...FORFEITS].find(([one, other]) => one === of && other === reason);
    this.deed.about.label = `${words.table} ${tableName(table)}: ${text}`;
    if (now === null || !confirmed) this.send(command);
    else this.deed.ask(fill(words.sheet.replaceAsk, { before: formatted(this.table), after: text }), [[words.sheet.replace, {}]], command);
  }

  sign() {
    const { signed } = this.table;
    this.deed.about.label = `${words.table} ${tableName(this.table.table)}: ${words.round.signed}`;
    this.send({ ...this.current(), signed: signed === null });
  }

  send(command) {
    if (command.result === "*") this.deed.about.label = `${words.table} ${tableName(this.table.table)}: ${words.sheet.withdraw}`;
    this.deed.stop();
    this.deed.send(command);
  }

  press(name) {
    if (!this.mayEnter || !(name in KEYS)) return false;
    this.enter(KEYS[name], null);
    return true;
  }
}

/** A player without an opponent, whose points can be entered. */
class Bye {
  constructor(round, context) {
    this.round = round;
    const texts = words.sheet;
    this.name = make("span", "name");
    this.shown = make("b", "shown-result");
    this.entered = make("span", "entered-by");
    this.deed = new Entry(
      { send: context.sendOfRound, did: (job) => context.did(null, job) },
      { label: texts.result, command: () => null, undo: () => this.command(this.bye.decided ? this.bye.points : null), ask: () => null },
    );
    this.choices = Object.entries(texts.bye).map(([points, text]) => ({ points, text, element: button("choice", text, text, () => this.enter(points)) }));
    // `Object.entries` lists integer keys first.
    this.choices.sort((one, other) => ["1", "1/2", "0"].indexOf(one.points) - ["1", "1/2", "0"].indexOf(other.points));
    this.withdraw = button("choice", texts.withdrawBye, texts.withdrawBye, () => this.send(this.command(null)));
    const main = make("span", "choices-bye", {}, ...this.choices.map(({ element }) => element), this.withdraw);
    this.group = make("div", `bye-row ${context.mayEnter ? "may-enter" : ""}`.trim(), { role: "group" }, this.name, this.shown);
    if (context.mayEnter) this.group.append(main, this.deed.undone);
    this.group.append(this.entered, this.deed.element);
    this.element = make("li", "", {}, this.group);
  }

  update(bye) {
    this.bye = bye;
    const texts = words.sheet;
    const { player, points, decided } = bye;
    say(this.name, player);
    say(this.shown, points === null ? texts.noPoints : texts.bye[points]);
    mark(this.group, "aria-label", fill(texts.points, { player }));
    for (const { points: one, text, element } of this.choices) {
      mark(element, "aria-pressed", String(one === points));
      mark(element, "aria-label", `${text}, ${player}`);
    }
    this.withdraw.hidden = !decided;
    mark(this.withdraw, "aria-label", `${texts.withdrawBye}, ${player}`);
    say(this.entered, decided ? fill(texts.by, { by: decided.by, time: hour(decided.at) }) : points === null ? "" : texts.ofFile);
  }

  /** The command that enters points, or with null withdraws the entry. */
  command(points) {
    return { do: "set_bye", round: this.round, player: this.bye.player, points };
  }

  enter(points) {
    if (this.bye.points === points && this.bye.decided) return;
    this.send(this.command(points));
  }

  send(command) {
    const text = command.points === null ? words.sheet.withdrawBye : words.sheet.bye[command.points];
    this.deed.about.label = `${command.player}: ${text}`;
    this.deed.stop();
    this.deed.send(command);
  }
}

/** Describes what the board at a table has seen. */
export function observed(table, boards) {
  const texts = words.sheet;
  const { table: number, seen, game, board } = table;
  const reason = seen && (words.round.reasons[seen.reason] ?? words.reasons[seen.reason] ?? seen.reason);
  if (seen?.result) return fill(texts.saw, { reason, result: result(seen.result), time: hour(seen.at) });
  if (seen) return fill(texts.sawEnd, { reason, time: hour(seen.at) });
  const isThere = ({ connected, stands_at: at }) => connected && at === number;
  if (!game) return board === null && ![...boards.values()].some(isThere) ? texts.noBoard : "";
  const status = boards.get(board);
  if (table.over || status?.game?.game !== game) return "";
  const stood = stoodSince(table, boards);
  if (stood !== null) return fill(texts.stood, { time: hour(stood) });
  const { moves } = status.game;
  return isPlaying(status) && moves.length ? fill(texts.plays, { move: numberOf(status.game, moves.length).replace(/\.+$/, "") }) : "";
}

export class ResultsSheet {
  /** `announce` announces a text to screen readers. */
  constructor(session, source, announce) {
    this.source = source;
    const texts = words.sheet;
    const standing = (table) => [...source.boards.values()].find((one) => one.stands_at === table)?.board;
    this.context = {
      // A hub has no past games.
      hasPast: session.hub !== true,
      mayEnter: may(session, "set_result"),
      // The server finds the game of the table. A result without a game belongs to the round.
      send: ({ table, board }, command) => source.command(board ?? standing(table) ?? anyBoard(source), command),
      sendOfRound: (command) => source.command(anyBoard(source), command),
      did: (_, job) => announce(`${job.label}. ${job.answer.ok ? words.deeds.done : job.answer.error ?? ""}`),
    };
    this.rows = new Map();
    this.title = make("h2", "", { tabindex: "-1" }, texts.title);
    this.choice = make("select", "", { "aria-label": words.deeds.roundNumber });
    this.choice.addEventListener("change", () => (location.hash = sheet(Number(this.choice.value))));
    const back = make("a", "from-results", { href: "#/" }, words.opened.back);
    this.summary = make("p", "sheet-summary");
    const keys = make("p", "quiet sheet-keys", {}, texts.keys);
    keys.hidden = !this.context.mayEnter;
    const head = make("div", "setup-head", {}, make("div", "sheet-title", {}, this.title, this.choice, this.summary, keys), back);
    this.list = make("ol", "results");
    this.empty = make("p", "quiet", { hidden: "" }, texts.empty);
    this.byes = make("ul", "byes");
    this.alone = make("section", "", { hidden: "", "aria-label": texts.byes }, make("h3", "", {}, texts.byes), this.byes);
    this.unpaired = make("ul", "byes");
    this.unpairedTitle = make("summary", "");
    const unpairedHow = make("p", "quiet", {}, texts.unpairedHow);
    unpairedHow.hidden = !this.context.mayEnter;
    const folded = make("div", "folded", {}, unpairedHow, this.unpaired);
    this.absent = make("details", "fold", { hidden: "" }, this.unpairedTitle, folded);
    this.byeRows = new Map();
    this.othersTitle = make("h3", "", {}, texts.others);
    this.others = make("ul", "sheet-others");
    this.rest = make("div", "", { hidden: "" }, this.othersTitle, this.others);
    this.element = make("section", "results-sheet", { hidden: "", "aria-label": texts.title });
    this.element.append(head, this.empty, this.list, this.alone, this.absent, this.rest);
  }

  /** Number of the round that is shown; null if there is none. */
  number() {
    const { rounds, pairings } = this.source;
    const wanted = askedResults()?.round ?? pairings.round;
    if (rounds.has(wanted)) return wanted;
    return rounds.keys().next().value ?? null;
  }

  show(isShown) {
    this.element.hidden = !isShown;
    if (isShown) this.draw();
  }

  draw() {
    if (this.element.hidden) return;
    const { rounds, boards } = this.source;
    const number = this.number();
    const round = rounds.get(number);
    const numbers = [...rounds.keys()].sort((one, other) => one - other);
    const key = JSON.stringify(numbers);
    if (key !== this.numbers) {
      this.numbers = key;
      this.choice.replaceChildren(...numbers.map((one) => make("option", "", { value: one }, fill(words.round.name, { round: one }))));
    }
    this.choice.hidden = !round;
    this.empty.hidden = Boolean(round);
    if (round && document.activeElement !== this.choice) this.choice.value = String(number);
    if (number !== this.shown) {
      this.shown = number;
      this.rows.clear();
      this.list.replaceChildren();
      this.byeRows.clear();
      this.byes.replaceChildren();
      this.unpaired.replaceChildren();
    }
    const tables = round ? [...round.tables.values()] : [];
    const known = new Set(tables.map(({ table }) => table));
    for (const [table, row] of this.rows) {
      if (known.has(table)) continue;
      row.element.remove();
      this.rows.delete(table);
    }
    tables.forEach((table, at) => {
      let row = this.rows.get(table.table);
      if (!row) {
        row = new Row(number, this.source, this.context);
        this.rows.set(table.table, row);
      }
      row.update(table, boards);
      if (this.list.children[at] !== row.element) this.list.insertBefore(row.element, this.list.children[at] ?? null);
    });
    const entered = tables.filter(({ result: of }) => of !== null).length;
    const seen = tables.filter(({ result: of, confirmed }) => of !== null && !confirmed).length;
    const summary = round ? fill(words.sheet.summary, { n: entered - seen, all: tables.length }) : "";
    say(this.summary, [summary, seen && count(words.sheet.onlySeen, seen)].filter(Boolean).join(" · "));
    this.drawByes(number, round?.byes ?? []);
    this.drawOthers(round?.others ?? []);
  }

  /** Draws the players without an opponent. Unpaired ones are folded away until points are entered for them. */
  drawByes(number, byes) {
    const known = new Set(byes.map(({ player }) => player));
    for (const [player, row] of this.byeRows) {
      if (known.has(player)) continue;
      row.element.remove();
      this.byeRows.delete(player);
    }
    const isAlone = ({ listed, decided }) => listed || decided !== null;
    for (const [list, of] of [[this.byes, byes.filter(isAlone)], [this.unpaired, byes.filter((bye) => !isAlone(bye))]]) {
      of.forEach((bye, at) => {
        let row = this.byeRows.get(bye.player);
        if (!row) {
          row = new Bye(number, this.context);
          this.byeRows.set(bye.player, row);
        }
        row.update(bye);
        if (list.children[at] !== row.element) list.insertBefore(row.element, list.children[at] ?? null);
      });
    }
    this.alone.hidden = this.byes.children.length === 0;
    const { length } = this.unpaired.children;
    this.absent.hidden = length === 0;
    say(this.unpairedTitle, fill(words.sheet.unpaired, { n: length }));
  }

  drawOthers(others) {
    this.rest.hidden = others.length === 0;
    const key = JSON.stringify(others);
    if (key === this.othersKey) return;
    this.othersKey = key;
    const text = (one) => `${names({ players: one })}: ${words.sheet.noTable}`;
    this.others.replaceChildren(...others.map((one) => make("li", "", {}, text(one))));
  }

  /** Focuses the table that the address names, else the first one without a result, else the title. */
  focus() {
    const wanted = this.rows.get(askedResults()?.table);
    const open = [...this.rows.values()].find(({ table }) => table.result === null);
    const row = wanted ?? (this.context.mayEnter ? open : undefined);
    (row?.group ?? this.title).focus({ preventScroll: true });
    if (!wanted) scrollTo(0, 0);
    row?.group.scrollIntoView({ block: wanted ? "center" : "nearest" });
  }

  /** Handles a key; returns whether it has a function here. */
  press(name) {
    if (name === "Escape") {
      location.hash = "#/";
      return true;
    }
    const rows = [...this.rows.values()];
    const at = rows.findIndex(({ group }) => group.contains(document.activeElement));
    const by = { ArrowDown: 1, j: 1, ArrowUp: -1, k: -1 }[name];
    if (by) {
      const to = at < 0 ? 0 : Math.max(0, Math.min(rows.length - 1, at + by));
      rows[to]?.group.focus({ preventScroll: true });
      rows[to]?.group.scrollIntoView({ block: "nearest" });
      return rows.length > 0;
    }
    return at >= 0 && rows[at].press(name);
  }
}
