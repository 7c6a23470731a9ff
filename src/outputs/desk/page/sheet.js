// The sheet of all boards: table, serial number, tested squares, clock and battery of each.

import { button, choose, make, mark, say } from "/page/dom.js";
import { hallOf, ownNumber, tableName } from "/page/tables.js";
import { Deed, told, undoing } from "./deed.js";
import { toHall } from "./halls.js";
import { isPlaying } from "./lines.js";
import { LOW_BATTERY } from "./room.js";
import { controlText, count, fill, shownTime, words } from "./words.js";

const COLUMNS = ["board", "table", "serial", "squares", "side", "clock", "battery", "hall", "name"];
/** Columns that only a hall has: squares and clocks are checked beside the board. */
const OF_HALL = ["squares", "side", "clock"];
/** Columns that only a hub has. */
const OF_HUB = ["hall"];
/** Highest number of a table, and of a table in a hall with a name. */
const LAST_TABLE = 9999;
const LAST_IN_HALL = 999;
/** Without pairings, a number up to this far above the expected tables is saved without a question. */
const MARGIN = 10;

/** A click into a field selects its number, so that the number is replaced by typing. */
function selectOnClick(input) {
  input.addEventListener("click", () => input.select());
}

function compare(one, other) {
  return (one ?? "\uffff").localeCompare(other ?? "\uffff", undefined, { numeric: true });
}

/** Orders of the boards, by the name of the choice. Boards that are equal in it are ordered by name. */
const ORDERS = {
  table: (one, other) => (one.stands_at ?? Infinity) - (other.stands_at ?? Infinity) || 0,
  board: () => 0,
  serial: (one, other) => compare(one.serial, other.serial),
  port: (one, other) => compare(one.port, other.port),
};

/** Table numbers that several boards have. `tables` has pairs of a board's name and its table. */
export function shared(tables) {
  const at = new Map();
  for (const [board, table] of tables) {
    if (table !== null) at.set(table, [...(at.get(table) ?? []), board]);
  }
  return [...at].filter(([, boards]) => boards.length > 1);
}

/** A row. `act` sends a command for the board; `enter` is called when the number of the table was typed. */
class Row {
  constructor(board, columns, { act, enter, test, announce }) {
    this.board = board;
    const { boards } = words.setup;
    this.cells = new Map(
      columns.map((name) => {
        const attributes = name === "board" ? { role: "rowheader", scope: "row" } : { role: "cell" };
        const cell = make(name === "board" ? "th" : "td", `of-${name}`, attributes);
        if (name !== "board") cell.append(make("span", "label", { "aria-hidden": "true" }, boards.columns[name]));
        return [name, cell];
      }),
    );
    this.chips = make("span", "chips");
    this.facts = make("span", "facts");
    this.cells.get("board").append(make("div", "who", {}, make("b", "", {}, board), this.chips, this.facts));
    this.table = make("input", "", { type: "number", min: "1", inputmode: "numeric", autocomplete: "off" });
    this.table.addEventListener("input", () => {
      this.doubt("");
      enter();
    });
    selectOnClick(this.table);
    this.hallName = make("span", "hall-name");
    /** Number about which the sheet has asked. */
    this.asked = null;
    this.question = make("span", "doubt", { role: "status" });
    this.cells.get("table").append(this.hallName, this.table, this.question);
    this.serial = make("span", "");
    this.cells.get("serial").append(this.serial);
    if (this.cells.has("squares")) {
      this.squares = button("count", "", "", () => test(board));
      this.cells.get("squares").append(this.squares);
      const sides = ["", "left", "right"].map((side) => [side, side ? words.deeds[side] : boards.unknownSide]);
      this.side = choose(`${words.deeds.clockSide}: ${board}`, sides, "", (white) => {
        if (white) act(board, { do: "sync_clock_sides", white });
      });
      this.lever = make("span", "lever");
      this.cells.get("side").append(this.side, this.lever);
      this.times = make("span", "shown");
      this.verdict = make("span", "");
      this.cells.get("clock").append(this.times, this.verdict);
    }
    this.battery = make("span", "");
    this.cells.get("battery").append(this.battery);
    const context = { send: (command) => act(board, command), did: (job) => announce(`${board}, ${job.label}: ${told(job.answer)}`) };
    this.identify = new Deed(context, { label: boards.identify, command: () => ({ do: "identify" }) });
    this.identify.button.setAttribute("aria-label", `${words.deeds.identify}: ${board}`);
    this.cells.get("name").append(this.identify.element);
    this.element = make("tr", "", { role: "row" }, ...this.cells.values());
  }

  /** The table in the field; null if there is none. In a hall with a name, the field has the number in the hall. */
  number() {
    return this.table.value === "" ? null : this.base + Number(this.table.value);
  }

  /** Shows a table in the field, with the name of its hall before it. */
  show(table) {
    const hall = table === null ? null : hallOf(table);
    this.base = hall?.base ?? 0;
    this.known = table;
    this.doubt("");
    this.table.value = table === null ? "" : ownNumber(table);
    this.table.max = hall ? LAST_IN_HALL : LAST_TABLE;
    say(this.hallName, hall?.name ?? "");
    mark(this.table, "aria-label", `${[words.table, hall?.name].filter(Boolean).join(" ")}: ${this.board}`);
  }

  /** Shows a question about the number beside the field; an empty text removes it. */
  doubt(text) {
    this.asked = text ? this.number() : null;
    say(this.question, text);
  }

  /** Whether the field differs from the table at which the board stands. */
  isChanged() {
    return this.number() !== null && this.number() !== this.known;
  }

  update(status, tested) {
    const { boards } = words.setup;
    const isDirty = this.known !== undefined && this.isChanged();
    const { stands_at: at } = status;
    // The names of the halls may arrive after the boards.
    const isNews = at !== this.known || (at !== null && this.base !== (hallOf(at)?.base ?? 0));
    if (isNews && !isDirty) this.show(at);
    this.known = at;
    const wrong = status.connected ? [] : [["advice", status.away ? words.health.away : words.health.gone]];
    if (status.stands_at === null) wrong.push(["hint", boards.noTable]);
    if (isPlaying(status)) wrong.push(["", boards.playing]);
    const key = JSON.stringify(wrong);
    if (this.chips.dataset.key !== key) {
      this.chips.dataset.key = key;
      this.chips.replaceChildren(...wrong.map(([how, what]) => make("span", `chip ${how}`, {}, what)));
    }
    const facts = [status.port ? fill(boards.port, { port: status.port }) : boards.noPort];
    if (status.same_number.length > 0) facts.push(fill(boards.sameNumber, { boards: status.same_number.join(", ") }));
    say(this.facts, facts.join(" · "));
    say(this.serial, status.serial ?? "–");
    say(this.battery, status.battery === null ? "–" : `${status.battery} %`);
    this.battery.className = status.battery !== null && status.battery <= LOW_BATTERY ? "chip hint" : "";
    this.identify.show(status.connected && !isPlaying(status));
    if (this.squares) this.updateClock(status, tested);
    if (status.hall && this.cells.has("hall")) this.updateHall(status.hall);
  }

  updateHall(hall) {
    const key = JSON.stringify(hall);
    if (key === this.hall) return;
    this.hall = key;
    this.link?.remove();
    this.link = toHall(hall, "#/setup", words.inHalls.desk);
    this.cells.get("hall").append(this.link);
  }

  updateClock(status, tested) {
    const { boards, squares } = words.setup;
    const { lever: up, white_side: white, standing_ms: standing, time_control: control, clock_fits: fits } = status;
    say(this.squares, fill(boards.tested, { n: tested }));
    mark(this.squares, "aria-label", `${fill(squares.count, { n: tested })} ${fill(boards.test, { board: this.board })}`);
    this.squares.classList.toggle("fine", tested === 64);
    const none = status.connected ? boards.noClock : "–";
    this.side.hidden = up === null;
    if (document.activeElement !== this.side) this.side.value = white ?? "";
    this.element.classList.toggle("left-up", up === "left");
    this.element.classList.toggle("right-up", up === "right");
    say(this.lever, up ? fill(boards.lever, { side: words.deeds[up] }) : none);
    const [left, right] = standing ?? [null, null];
    const runs = up && !standing ? boards.runs : "–";
    say(this.times, standing ? (left === right ? shownTime(left) : `${shownTime(left)} · ${shownTime(right)}`) : runs);
    const isCompared = fits !== null && fits !== undefined;
    say(this.verdict, isCompared ? fill(fits ? boards.fits : boards.differs, { control: controlText(control) }) : control && standing ? "" : boards.noControl);
    this.verdict.className = isCompared ? `chip ${fits ? "fine" : "warn"}` : "facts";
    this.verdict.hidden = !standing || (!isCompared && Boolean(control));
  }
}

export class Sheet {
  /** `test` is called with the board whose squares are to be tested; `tested` returns the number of its squares that were. */
  constructor(source, announce, { isHub, test, tested }) {
    Object.assign(this, { source, announce, test, tested });
    const { boards } = words.setup;
    this.columns = COLUMNS.filter((name) => !(isHub ? OF_HALL : OF_HUB).includes(name));
    this.rows = new Map();
    this.order = "table";
    const heads = this.columns.map((name) => make("th", "", { scope: "col", role: "columnheader" }, boards.columns[name]));
    this.body = make("tbody", "", { role: "rowgroup" });
    const head = make("thead", "", { role: "rowgroup" }, make("tr", "", { role: "row" }, ...heads));
    const table = make("table", "sheet", { role: "table", "aria-label": words.setup.steps.boards }, head, this.body);
    this.answer = make("p", "answer", { role: "status" });
    this.save = make("button", "main", { type: "submit", hidden: "" }, boards.save);
    const rest = make("div", "sheet-foot", {}, this.save, this.answer);
    this.form = make("form", "sheet-of", { novalidate: "" }, table, rest);
    this.form.addEventListener("submit", (event) => {
      event.preventDefault();
      this.submit();
    });
    const did = (job) => announce(`${job.label}: ${told(job.answer)}`);
    // An answer about tables stays until the next change of tables, which may contradict it.
    this.ofFields = {
      send: ({ tables }) => {
        this.number.forget();
        return this.setTables(tables);
      },
      did,
    };
    this.ofNumbering = {
      send: ({ tables }) => {
        this.tell("", "");
        return this.setTables(tables);
      },
      did,
    };
    /** Tables that the last answer names, whether the boards have been there, and how to remove the answer. */
    this.told = null;
    this.element = make("div", "", {}, this.numbering(), this.form);
  }

  /** The controls that set White's side of all clocks on which it is unknown. No side is chosen beforehand. */
  siding() {
    const { boards } = words.setup;
    const sides = ["", "left", "right"].map((side) => [side, side ? words.deeds[side] : boards.chooseSide]);
    this.allSides = choose(boards.sideOfAll, sides, "", () => this.draw());
    const context = {
      send: ({ white, unsure }) => this.setSides(unsure, white),
      did: (job) => this.announce(`${job.label}: ${told(job.answer)}`),
    };
    this.side = new Deed(context, {
      label: "",
      command: () => (this.allSides.value ? { white: this.allSides.value, unsure: this.unsure() } : null),
      done: () => {
        this.allSides.value = "";
        this.side.answer.append(" ", this.otherSide());
      },
    });
    this.sideField = make("span", "field", {}, make("span", "", { "aria-hidden": "true" }, boards.sideOfAll), this.allSides);
    this.sides = make("div", "siding", { hidden: "" }, this.sideField, this.side.element);
    return this.sides;
  }

  /** The button that sets the other side on the clocks that were set last: the side cannot become unknown again. */
  otherSide() {
    const { clocks, white } = this.lastSides;
    const other = white === "left" ? "right" : "left";
    const label = fill(words.setup.boards.otherSide, { side: words.deeds[other] });
    return button("undo", label, label, () => this.side.send({ white: other, unsure: clocks }));
  }

  /** Boards with a clock on which White's side is unknown. */
  unsure() {
    const boards = [...this.source.boards.values()];
    return boards.filter(({ connected, lever, white_side: side }) => connected && lever !== null && side === null).map(({ board }) => board);
  }

  /** Sets White's side of the clocks of boards, one after another. Stops at the first refusal. */
  async setSides(boards, white) {
    let kept = true;
    for (const board of boards) {
      const answer = await this.source.command(board, { do: "sync_clock_sides", white });
      if (!answer.ok) return { ...answer, error: `${board}: ${answer.error}` };
      kept = kept && answer.kept !== false;
    }
    this.lastSides = { clocks: boards, white };
    return { ok: true, note: count(words.setup.boards.sidesSet, boards.length, { side: words.deeds[white] }), error: null, kept };
  }

  /** The row of controls that numbers all boards. */
  numbering() {
    const { boards } = words.setup;
    const orders = Object.keys(ORDERS).map((name) => [name, boards.orders[name]]);
    const order = choose(boards.order, orders, this.order, (name) => {
      this.order = name;
      this.draw();
    });
    const first = make("input", "", { type: "number", min: "1", max: `${LAST_TABLE}`, value: "1", inputmode: "numeric" });
    this.first = first;
    selectOnClick(first);
    first.addEventListener("input", () => this.draw());
    first.addEventListener("keydown", (event) => {
      if (event.key === "Enter") this.number.start();
    });
    this.number = new Deed(this.ofNumbering, {
      label: boards.number,
      command: () => {
        const tables = this.numbered();
        return tables.length ? { tables } : null;
      },
      ask: () => this.askNumbering(),
      undo: ({ tables }) => this.before(tables),
      undone: ({ answer }) => this.number.tell(told(answer), answer.ok ? "good" : "bad"),
      done: () => this.watch(this.set, () => this.number.forget()),
    });
    const orderField = make("span", "field", {}, make("span", "", { "aria-hidden": "true" }, boards.order), order);
    const firstField = make("label", "field short", {}, make("span", "", {}, boards.first), first);
    const numbering = make("div", "numbering", {}, orderField, firstField, this.number.element);
    this.tools = make("div", "sheet-tools", {}, numbering, this.siding());
    return this.tools;
  }

  /** The boards in the chosen order. */
  sorted() {
    const boards = [...this.source.boards.values()];
    return boards.sort((one, other) => ORDERS[this.order](one, other) || compare(one.board, other.board));
  }

  /** Added to the numbers of the hall in which a board stands; 0 if tables are numbered across all halls. */
  base(board) {
    const at = this.source.boards.get(board)?.stands_at ?? null;
    return at === null ? 0 : hallOf(at)?.base ?? 0;
  }

  /** First and last number that the button would give, and the highest that it may give. */
  range() {
    const first = Math.max(1, Math.floor(Number(this.first.value)) || 1);
    const counts = new Map();
    for (const board of this.rows.keys()) counts.set(this.base(board), (counts.get(this.base(board)) ?? 0) + 1);
    const isInHall = [...counts.keys()].some((base) => base > 0);
    return [first, first + Math.max(0, ...counts.values()) - 1, isInHall ? LAST_IN_HALL : LAST_TABLE];
  }

  /** The boards that numbering would put at another table, with their new tables. Halls with names count from `first` each. */
  numbered() {
    const [first, last, highest] = this.range();
    if (last > highest) return [];
    const next = new Map();
    const tables = this.shown.map((board) => {
      const base = this.base(board);
      const number = next.get(base) ?? first;
      next.set(base, number + 1);
      return [board, base + number];
    });
    return tables.filter(([board, table]) => this.source.boards.get(board)?.stands_at !== table);
  }

  /** Asks if boards would leave a table. */
  askNumbering() {
    const { boards } = words.setup;
    const moved = this.numbered().filter(([board]) => this.source.boards.get(board)?.stands_at);
    if (!moved.length) return null;
    const changes = moved.slice(0, 6).map(([board, table]) => fill(boards.change, { board, was: tableName(this.source.boards.get(board).stands_at), table: tableName(table) }));
    const shown = moved.length > 6 ? fill(words.setup.more, { names: changes.join(", "), n: moved.length - 6 }) : changes.join(", ");
    const playing = moved.some(([board]) => isPlaying(this.source.boards.get(board)));
    return `${fill(boards.askNumber, { changes: shown })}${playing ? ` ${boards.askPlaying}` : ""}`;
  }

  /** The command that undoes a change of tables; null if a board had no table before, as a table cannot be taken away. */
  before(tables) {
    const old = tables.map(([board]) => [board, this.source.boards.get(board)?.stands_at ?? null]);
    return old.every(([, table]) => table !== null) ? { tables: old } : null;
  }

  /** Puts boards at tables, one after another. Stops at the first refusal. */
  async setTables(tables) {
    let kept = true;
    this.told = null;
    this.set = tables;
    for (const [board, table] of tables) {
      const answer = await this.source.command(board, { do: "set_table", table });
      if (!answer.ok) return { ...answer, error: `${board}: ${answer.error}` };
      kept = kept && answer.kept !== false;
      const row = this.rows.get(board);
      // The field follows the board again.
      row?.show(table);
    }
    const shown = tables.slice(0, 6).map(([board, table]) => fill(words.setup.boards.at, { board, table: tableName(table) }));
    const names = shown.join(", ");
    return { ok: true, note: tables.length > 6 ? fill(words.setup.more, { names, n: tables.length - 6 }) : names, error: null, kept };
  }

  /** Calls `remove` once a board leaves the table at which it was put, for example by another operator. */
  watch(tables, remove) {
    this.told = { tables, remove, wereThere: false };
    this.compare();
  }

  /** Removes the last answer if it has become wrong. */
  compare() {
    if (!this.told) return;
    const areThere = this.told.tables.every(([board, table]) => this.source.boards.get(board)?.stands_at === table);
    if (this.told.wereThere && !areThere) {
      this.told.remove();
      this.told = null;
    } else if (areThere) this.told.wereThere = true;
  }

  /** Marks fields with the number of another board. Returns a text about the first of these tables; empty if there is none. */
  conflict() {
    const rows = [...this.rows.values()];
    // A board that is not connected may leave its table to another one.
    const here = rows.filter((row) => row.isChanged() || this.source.boards.get(row.board)?.connected);
    const doubles = shared(here.map((row) => [row.board, row.number()])).filter(([, boards]) =>
      boards.some((board) => this.rows.get(board).isChanged()),
    );
    const names = new Set(doubles.flatMap(([, boards]) => boards));
    for (const row of rows) mark(row.table, "aria-invalid", names.has(row.board) ? "true" : null);
    const [first] = doubles;
    return first ? fill(words.setup.boards.taken, { table: tableName(first[0]), boards: first[1].join(", ") }) : "";
  }

  /** Highest expected table in the hall of a board: of the pairings, the other boards, and the number of boards. */
  expected(row) {
    const base = this.base(row.board);
    const own = (table) => (table !== null && (hallOf(table)?.base ?? 0) === base ? table - base : 0);
    const others = [...this.rows.values()].filter((other) => other !== row);
    // A number that was confirmed for another board counts.
    const taken = others.map((other) => own(other.asked ?? this.source.boards.get(other.board)?.stands_at ?? null));
    const paired = this.source.pairings.tables.map(({ table }) => own(table));
    const last = Math.max(this.rows.size, ...taken, ...paired);
    return { last, limit: Math.max(0, ...paired) ? last : last + MARGIN };
  }

  /** Asks about the first of these numbers that is far above all tables. Returns whether it has asked. */
  doubts(changed) {
    const { boards } = words.setup;
    const far = changed.find((row) => row.asked !== row.number() && row.number() - row.base > this.expected(row).limit);
    if (!far) return false;
    const values = { table: far.number() - far.base, last: this.expected(far).last };
    far.doubt(fill(boards.far, values));
    this.tell(fill(boards.farFoot, { board: far.board, ...values }), "");
    far.table.focus();
    far.table.select();
    far.cells.get("table").scrollIntoView({ block: "nearest" });
    return true;
  }

  /** Checks the numbers while they are typed. */
  check() {
    const text = this.conflict();
    this.save.hidden = ![...this.rows.values()].some((row) => row.isChanged());
    this.save.disabled = text !== "";
    if (text || this.wasRefused) this.tell(text, text ? "bad" : "");
    this.wasRefused = text !== "";
  }

  tell(text, how, undo = null) {
    this.answer.className = `answer ${how}`;
    this.answer.replaceChildren(text, ...(undo ? [" ", undo] : []));
  }

  /** Sends the numbers that were typed. Two boards at one table are refused, and nothing is sent. */
  async submit() {
    const { boards } = words.setup;
    const rows = this.shown.map((board) => this.rows.get(board));
    const changed = rows.filter((row) => row.isChanged());
    const invalid = changed.find((row) => !row.table.validity.valid);
    if (invalid) {
      this.tell(fill(boards.noNumber, { last: invalid.table.max }), "bad");
      invalid.table.focus();
      return;
    }
    const from = rows.findIndex((row) => row.table === document.activeElement);
    this.check();
    if (this.wasRefused) {
      const focused = rows[from];
      if (!focused?.isChanged()) changed[0].table.focus();
      return;
    }
    if (this.doubts(changed)) return;
    // Enter goes on to the next board, as in a spreadsheet.
    const next = rows[from + 1];
    if (from >= 0 && next) {
      next.table.focus();
      next.table.select();
    }
    if (!changed.length) return;
    const tables = changed.map((row) => [row.board, row.number()]);
    const undo = this.before(tables);
    this.tell(words.deeds.sending, "");
    const answer = await this.ofFields.send({ tables });
    const undone = (undo) => this.tell(told(undo.answer), undo.answer.ok ? "good" : "bad");
    const job = { label: boards.save, answer, undo: answer.ok ? undo : null, at: Date.now() };
    this.tell(told(answer), answer.ok ? "good" : "bad", job.undo && undoing(this.ofFields, job, undone));
    if (answer.ok) this.watch(tables, () => this.tell("", ""));
    this.check();
  }

  /** Sends the command of a row, and shows its answer below the sheet. */
  async act(board, command) {
    const answer = await this.source.command(board, command);
    if (command.do === "identify") return answer;
    if (answer.ok) answer.note ??= fill(words.setup.boards.sideSet, { side: words.deeds[command.white] });
    // The answer for all clocks would contradict it.
    this.side.forget();
    this.tell(`${board}: ${told(answer)}`, answer.ok ? "good" : "bad");
    this.draw();
    return answer;
  }

  draw() {
    this.compare();
    const sorted = this.sorted();
    const names = sorted.map(({ board }) => board);
    for (const [board, row] of this.rows) {
      if (this.source.boards.has(board)) continue;
      row.element.remove();
      this.rows.delete(board);
    }
    for (const status of sorted) {
      if (!this.rows.has(status.board)) {
        const row = new Row(status.board, this.columns, {
          act: (board, command) => this.act(board, command),
          enter: () => this.check(),
          test: this.test,
          announce: this.announce,
        });
        this.rows.set(status.board, row);
      }
      this.rows.get(status.board).update(status, this.tested(status.board));
    }
    // A row must not move while somebody types in it.
    const isSame = this.shown?.length === names.length && names.every((board) => this.shown.includes(board));
    if (!isSame || !this.body.contains(document.activeElement)) {
      this.shown = names;
      names.forEach((board, at) => {
        const { element } = this.rows.get(board);
        if (this.body.children[at] !== element) this.body.insertBefore(element, this.body.children[at] ?? null);
      });
    }
    this.form.hidden = this.tools.hidden = !names.length;
    const [first, last, highest] = this.range();
    this.number.label(fill(words.setup.boards.number, { first, last }));
    this.number.about.label = fill(words.setup.boards.number, { first, last });
    this.number.button.disabled = last > highest || !this.numbered().length;
    const unsure = this.columns.includes("side") ? this.unsure().length : 0;
    // The answer stays visible once all sides are set.
    this.sides.hidden = unsure === 0 && this.side.answer.hidden;
    this.sideField.hidden = unsure === 0;
    this.side.show(unsure > 0);
    this.side.button.disabled = this.allSides.value === "";
    if (unsure) {
      const label = count(words.setup.boards.sideGo, unsure);
      this.side.label(label);
      this.side.about.label = label;
    }
    this.check();
  }
}
