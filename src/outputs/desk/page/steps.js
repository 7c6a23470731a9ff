// Steps of the set-up with a row for each board.

import { make, say } from "/page/dom.js";
import { Deed, field } from "./deed.js";
import { isPlaying } from "./lines.js";
import { LOW_BATTERY } from "./room.js";
import { fill, words } from "./words.js";

/** A list with a row for each board. A row is kept as long as its board is shown. */
class Rows {
  constructor(row) {
    this.row = row;
    this.rows = new Map();
    this.element = make("ul", "rows");
  }

  update(boards) {
    const names = new Set(boards.map(({ board }) => board));
    for (const [board, row] of this.rows) {
      if (names.has(board)) continue;
      row.element.remove();
      this.rows.delete(board);
    }
    boards.forEach((status, at) => {
      let row = this.rows.get(status.board);
      if (!row) {
        row = this.row(status);
        this.rows.set(status.board, row);
      }
      row.update(status);
      if (this.element.children[at] !== row.element) this.element.insertBefore(row.element, this.element.children[at] ?? null);
    });
  }
}

/** Context for the deeds of a row: the board's status, and functions to send commands. */
function deskOf(source, status, announce) {
  const context = { status };
  context.did = (job) => announce(`${context.status.board}, ${job.label}: ${job.answer.ok ? words.deeds.done : job.answer.error}`);
  context.send = (command) => source.command(context.status.board, command);
  return context;
}

/** Adds the name of the board to the button's label for screen readers. */
function about(deed, board) {
  deed.button.setAttribute("aria-label", `${deed.about.label}: ${board}`);
  return deed.element;
}

/** Describes a board: port, serial number, battery and clock. */
function facts({ connected, port, serial, same_number, battery, lever }, isHub) {
  const { boards } = words.setup;
  const parts = [port ? fill(boards.port, { port }) : boards.noPort];
  if (serial) parts.push(fill(boards.serial, { serial }));
  if (same_number.length > 0) parts.push(fill(boards.sameNumber, { boards: same_number.join(", ") }));
  if (battery !== null) parts.push(fill(words.health.battery, { percent: battery }));
  // Levers are checked in the hall, beside the board.
  if (connected && !isHub) parts.push(lever === null ? boards.noClock : fill(boards.lever, { side: words.deeds[lever] }));
  return parts.join(" · ");
}

/** Rows with the table of each board. */
export function boardRows(source, announce, isHub) {
  const { boards } = words.setup;
  return new Rows((first) => {
    const context = deskOf(source, first, announce);
    const [chips, text] = [make("span", "chips"), make("span", "facts")];
    const identify = new Deed(context, { label: words.deeds.identify, command: () => ({ do: "identify" }) });
    const table = make("input", "", { type: "number", min: "1", max: "9999", inputmode: "numeric", autocomplete: "off" });
    const before = first.stands_at;
    const move = new Deed(context, {
      label: boards.move,
      command: () => (table.value && Number(table.value) !== context.status.stands_at ? { do: "set_table", table: Number(table.value) } : null),
      undo: () => (context.status.stands_at ? { do: "set_table", table: context.status.stands_at } : null),
    });
    const row = field(words.table, table);
    row.classList.add("short");
    table.setAttribute("aria-label", `${words.table}: ${first.board}`);
    table.value = before ?? "";
    let known = before;
    const head = make("div", "row-head", {}, make("b", "", {}, first.board), chips);
    const deeds = make("div", "row-deeds", {}, row, about(move, first.board), about(identify, first.board));
    const element = make("li", "", {}, head, text, deeds);
    return {
      element,
      update(status) {
        context.status = status;
        say(text, facts(status, isHub));
        const wrong = status.connected ? [] : [["advice", status.away ? words.health.away : words.health.gone]];
        if (status.connected && status.battery !== null && status.battery <= LOW_BATTERY) {
          wrong.push(["hint", fill(words.health.battery, { percent: status.battery })]);
        }
        if (status.stands_at === null) wrong.push(["hint", boards.noTable]);
        const key = JSON.stringify(wrong);
        if (chips.dataset.key !== key) {
          chips.dataset.key = key;
          chips.replaceChildren(...wrong.map(([how, what]) => make("span", `chip ${how}`, {}, what)));
        }
        if (status.stands_at !== known && document.activeElement !== table) {
          known = status.stands_at;
          table.value = known ?? "";
        }
        identify.show(status.connected && !isPlaying(status));
      },
    };
  });
}

/** Rows with the clock of each board: the position of its lever, and White's side. */
export function clockRows(source, announce) {
  const { clocks } = words.setup;
  return new Rows((first) => {
    const context = deskOf(source, first, announce);
    const [lever, side] = [make("span", "lever"), make("span", "side-of-white")];
    const set = (white) =>
      new Deed(context, {
        label: fill(clocks.set, { side: words.deeds[white] }),
        command: () => ({ do: "sync_clock_sides", white }),
        undo: () => (context.status.white_side ? { do: "sync_clock_sides", white: context.status.white_side } : null),
      });
    const deeds = { left: set("left"), right: set("right") };
    const element = make("li", "", {}, make("div", "row-head", {}, make("b", "", {}, first.board)), lever, side);
    element.append(make("div", "row-deeds", {}, about(deeds.left, first.board), about(deeds.right, first.board)));
    return {
      element,
      update(status) {
        context.status = status;
        const { lever: up, white_side: white, connected } = status;
        element.classList.toggle("left-up", up === "left");
        element.classList.toggle("right-up", up === "right");
        const none = connected ? words.setup.boards.noClock : words.health.gone;
        say(lever, up ? fill(clocks.up, { side: words.deeds[up] }) : none);
        say(side, up && white ? fill(clocks.white, { side: words.deeds[white] }) : up ? clocks.unknown : "");
        for (const [name, deed] of Object.entries(deeds)) deed.show(Boolean(up) && white !== name);
      },
    };
  });
}
