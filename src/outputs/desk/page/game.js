// Forms for a game, a board and a round.

import { button, make, mark, say } from "/page/dom.js";
import { hallOf, ownNumber } from "/page/tables.js";
import { asItWas } from "./correct.js";
import { Deed, field, fold, radios } from "./deed.js";
import { Draft } from "./draft.js";
import { isPlaying } from "./lines.js";
import { after, standing } from "./position.js";
import { fill, numbered, result, words } from "./words.js";

const WINS = ["resignation", "flag", "checkmate", "illegal_moves", "default", "conduct", "arbiter"];
const DRAWS = ["agreement", "stalemate", "dead_position", "claim", "quickplay", "fivefold", "seventy_five_moves", "flag", "illegal_moves", "arbiter"];
const REASONS = {
  "1-0": WINS,
  "0-1": WINS,
  "1/2-1/2": DRAWS,
  "0-0": ["default", "conduct", "arbiter"],
  "1/2-0": ["conduct", "arbiter"],
  "0-1/2": ["conduct", "arbiter"],
};

function select(choices) {
  return make("select", "", {}, ...choices.map(([value, text]) => make("option", "", { value }, text)));
}

function input(attributes = {}) {
  return make("input", "", { autocomplete: "off", ...attributes });
}

/** Checkbox with which an entry after the end of a game applies to the next one. */
function nextGame(context, checked) {
  const box = make("input", "", { type: "checkbox" });
  box.checked = checked;
  const element = make("label", "keep", { hidden: "" }, box, " ", words.deeds.nextGame);
  return {
    element,
    show: (isShown) => (element.hidden = !isShown || !context.status.game?.ended),
    isMeant: () => !element.hidden && box.checked,
  };
}

/** Forms for the result of a game. `isPast` is whether it is no longer on a board. */
export function results(context, isPast = false) {
  const chosen = select(Object.entries(words.results));
  const reason = select([]);
  const fillReasons = () => reason.replaceChildren(...REASONS[chosen.value].map((one) => make("option", "", { value: one }, words.reasons[one])));
  chosen.addEventListener("change", fillReasons);
  fillReasons();
  const game = () => (context.status.game ? { game: context.status.game.game } : {});
  // A forfeit ends a game that never began.
  const next = nextGame(context, false);
  const showNext = () => next.show(!isPast && reason.value === "default");
  chosen.addEventListener("change", showNext);
  reason.addEventListener("change", showNext);
  /** The command that restores the current result; null if there is no such command. */
  const asNow = () => {
    const now = context.status.game;
    if (!now?.ended) return { do: "set_result", result: "*", ...game() };
    if (now.result === "*") return null;
    return { do: "set_result", result: now.result, ...(now.confirmed ? { reason: now.reason } : {}), ...game() };
  };
  const enter = new Deed(context, {
    label: words.deeds.resultGo,
    tone: "main",
    command: () => ({ do: "set_result", result: chosen.value, reason: reason.value, ...(next.isMeant() ? {} : game()) }),
    ask: () => fill(words.deeds.resultAsk, { result: `${words.results[chosen.value]}, ${words.reasons[reason.value]}` }),
    undo: () => (next.isMeant() ? null : asNow()),
  });
  const confirm = new Deed(context, {
    label: "",
    tone: "main",
    command: () => ({ do: "set_result", result: context.status.game.result, ...game() }),
  });
  const goOn = new Deed(context, {
    label: words.deeds.goOn,
    command: () => ({ do: "set_result", result: "*", ...game() }),
    ask: () => fill(words.deeds.goOnAsk, { result: result(context.status.game.result) || words.reasons[context.status.game.reason] }),
    undo: asNow,
  });
  const why = select(["adjourned", "void", "arbiter"].map((one) => [one, words.reasons[one]]));
  const end = new Deed(context, {
    label: words.deeds.end,
    command: () => ({ do: "end_game", reason: why.value }),
    ask: () => words.deeds.endAsk,
    undo: () => ({ do: "set_result", result: "*", ...game() }),
  });
  const without = make("div", "deeds", {}, field(words.deeds.reason, why), end.element);
  const form = make("div", "pair", {}, field(words.deeds.result, chosen), field(words.deeds.reason, reason));
  const element = fold(words.deeds.result, confirm.element, form, next.element, enter.element, ...(isPast ? [] : [goOn.element, without]));
  return {
    element,
    update(status) {
      const { game: now } = status;
      const isShown = now && now.result !== "*" && !now.confirmed;
      confirm.show(Boolean(isShown));
      if (isShown) confirm.about.label = fill(words.deeds.confirm, { result: result(now.result) });
      confirm.label(confirm.about.label);
      goOn.show(Boolean(now?.ended));
      showNext();
      without.hidden = !isPlaying(status);
    },
  };
}

/** Forms for moves and position. `shown()` is the ply that the diagram shows; `correct` begins a correction. */
function positions(context, shown, correct) {
  const correcting = new Deed(context, { label: words.deeds.correct, command: () => correct() });
  const last = () => context.status.game.moves.length;
  const takeBack = new Deed(context, {
    label: words.deeds.takeBack,
    command: () => ({ do: "set_position", fen: after(context.status.game, last() - 1) }),
    ask: () => fill(words.deeds.takeBackAsk, { move: numbered(context.status.game, last()) }),
    undo: () => asItWas(context, last()),
  });
  const fromHere = new Deed(context, {
    label: words.deeds.fromHere,
    command: () => ({ do: "set_position", fen: after(context.status.game, shown()) }),
    ask: () => fill(words.deeds.fromHereAsk, { move: numbered(context.status.game, shown()) }),
    undo: () => asItWas(context, shown() + 1),
  });
  const back = () => ({ do: "set_position", fen: context.status.game?.fen ?? "" });
  const turn = radios(words.deeds.toMove, [["white", words.white], ["black", words.black]], "white");
  const stands = new Deed(context, {
    label: words.deeds.stands,
    command: () => ({ do: "set_position", fen: standing(context.status.placement, context.status.game?.fen ?? "", turn.value()) }),
    ask: () => fill(words.deeds.standsAsk, { color: words[turn.value()] }),
    undo: () => (context.status.game ? back() : null),
  });
  const fen = input({ spellcheck: "false", required: "" });
  const set = new Deed(context, {
    label: words.deeds.fenGo,
    command: () => (fen.value.trim() ? { do: "set_position", fen: fen.value.trim() } : null),
    ask: () => words.deeds.fenAsk,
    undo: () => (context.status.game ? back() : null),
  });
  const element = fold(words.deeds.position, correcting.element, takeBack.element, fromHere.element);
  element.lastElementChild.append(turn.element, stands.element, field(words.deeds.fen, fen), set.element);
  return {
    element,
    update({ game }) {
      correcting.show(Boolean(game));
      takeBack.show(Boolean(game?.moves.length));
      fromHere.show(Boolean(game) && shown() < game.moves.length);
    },
  };
}

function claims(context) {
  const kind = select(Object.entries(words.claims));
  const color = select([["white", words.white], ["black", words.black]]);
  const intended = input({ spellcheck: "false", autocapitalize: "none" });
  const claim = new Deed(context, {
    label: words.deeds.claimGo,
    tone: "main",
    command() {
      const written = intended.value.trim();
      return { do: "claim", kind: kind.value, color: color.value, ...(written ? { intended: written } : {}) };
    },
  });
  const fields = [field(words.deeds.claimKind, kind), field(words.deeds.claimant, color)];
  fields.push(field(words.deeds.intended, intended, words.deeds.intendedHelp));
  const element = fold(words.deeds.claim, ...fields, claim.element);
  return { element, update: (status) => (element.hidden = !isPlaying(status)) };
}

function notes(context) {
  const text = make("textarea", "", { rows: "2" });
  const note = new Deed(context, {
    label: words.deeds.noteGo,
    tone: "main",
    command() {
      const game = context.status.game ? { game: context.status.game.game } : {};
      return text.value.trim() ? { do: "annotate", text: text.value.trim(), ...game } : null;
    },
    done() {
      text.value = "";
      draft.done();
    },
  });
  const draft = new Draft(text, context.user, context.status.board, "note");
  const element = fold(words.deeds.note, field(words.deeds.noteText, text), note.element);
  element.open = draft.isRestored;
  return { element, update: ({ game }) => (element.hidden = !game) };
}

function clocks(context) {
  const begin = new Deed(context, {
    label: words.deeds.newGame,
    command: () => ({ do: "new_game" }),
    ask: () => (isPlaying(context.status) ? words.deeds.newAsk : words.deeds.newPlain),
  });
  const control = input();
  const setControl = new Deed(context, {
    label: words.deeds.timeControlGo,
    command: () => (control.value.trim() ? { do: "set_time_control", time_control: control.value.trim() } : null),
    undo() {
      const { game } = context.status;
      const before = game?.time_control_typed ?? game?.time_control;
      return before ? { do: "set_time_control", time_control: before } : null;
    },
  });
  const side = radios(words.deeds.clockSide, [["left", words.deeds.left], ["right", words.deeds.right]], "left");
  const setSide = new Deed(context, {
    label: words.deeds.clockSideGo,
    command: () => ({ do: "sync_clock_sides", white: side.value() }),
    undo() {
      const before = context.status.game?.white_side;
      return before ? { do: "sync_clock_sides", white: before } : null;
    },
  });
  const identify = new Deed(context, { label: words.deeds.identify, command: () => ({ do: "identify" }) });
  const about = field(words.deeds.timeControl, control, words.deeds.timeControlHelp);
  const element = fold(words.deeds.game, begin.element, about, setControl.element, side.element, setSide.element, identify.element);
  return {
    element,
    update(status) {
      mark(control, "placeholder", status.game?.time_control_typed ?? status.game?.time_control ?? status.time_control ?? "");
      identify.show(status.connected && !isPlaying(status));
    },
  };
}

/** Data of a player besides the name, with labels and input attributes. */
const FACTS = [
  ["fide_id", "fideId", { type: "number", min: "1", inputmode: "numeric" }],
  ["title", "title", { maxlength: "4", autocapitalize: "characters" }],
  ["rating", "rating", { type: "number", min: "1", max: "4000", inputmode: "numeric" }],
  ["federation", "federation", { maxlength: "40", autocapitalize: "characters" }],
  ["team", "team", {}],
];
const SIDES = ["white", "black"];

/** All data of a player, null if unknown. */
function allFacts(known = {}) {
  return Object.fromEntries(FACTS.map(([name]) => [name, known?.[name] ?? null]));
}

/** Fields of one player. `value` is null if a field is empty. */
function playerForm(side) {
  const name = input();
  const facts = FACTS.map(([fact, label, attributes]) => {
    const box = input(attributes);
    const isNumber = attributes.type === "number";
    const value = () => (box.value.trim() === "" ? null : isNumber ? Number(box.value) : box.value.trim());
    return { fact, box, label: words.deeds[label], value };
  });
  const empty = button("", words.deeds.another, words.deeds.another, () => facts.forEach(({ box }) => (box.value = "")));
  const fields = facts.map(({ box, label }) => field(label, box));
  const element = make("fieldset", "player", {}, make("legend", "", {}, words[side]), field(words.deeds.name, name), ...fields, empty);
  return {
    element,
    show(players) {
      name.value = players?.[side] ?? "";
      for (const { fact, box } of facts) box.value = players?.[`${side}_player`]?.[fact] ?? "";
    },
    /** Entries that differ from `players`, as fields of the command. */
    changes(players) {
      const known = players?.[`${side}_player`] ?? {};
      const entered = name.value.trim() || null;
      const others = facts.filter(({ fact, value }) => value() !== (known[fact] ?? null));
      const changed = Object.fromEntries(others.map(({ fact, value }) => [fact, value()]));
      return {
        ...(entered !== (players?.[side] ?? null) && { [side]: entered }),
        ...(others.length && { [`${side}_player`]: changed }),
      };
    },
  };
}

/** Field for a table. In a hall with a name, it has the number in the hall, and its label has the name. */
function tableField(label) {
  const box = input({ type: "number", min: "1", max: "9999", inputmode: "numeric" });
  const element = field(label, box);
  let base = 0;
  return {
    box,
    element,
    /** The table in the field; null if there is none. */
    value: () => (box.value ? base + Number(box.value) : null),
    /** Shows a table, or nothing. `near` is a table in the same hall. */
    show(table, near) {
      const hall = near ? hallOf(near) : null;
      base = hall?.base ?? 0;
      say(element.firstElementChild, hall ? `${label} (${hall.name})` : label);
      box.value = table ? ownNumber(table) : "";
    },
  };
}

/** Forms for players, tables and rounds. Tables, rounds and boards are for operators. */
function seating(context) {
  const forms = SIDES.map(playerForm);
  const ofRound = input({ type: "number", min: "1", max: "999", inputmode: "numeric" });
  const ofTable = tableField(words.deeds.gameTable);
  const named = () => context.status.game?.players ?? {};
  const thisGame = () => (context.status.game ? { game: context.status.game.game } : {});
  /** The command that sets the players as they are, or with swapped colours. */
  const all = (players, isSwapped = false) => {
    const [one, other] = isSwapped ? ["black", "white"] : SIDES;
    return {
      do: "set_players",
      white: players[one] ?? null,
      black: players[other] ?? null,
      white_player: allFacts(players[`${one}_player`]),
      black_player: allFacts(players[`${other}_player`]),
      ...(players.round && { round: players.round }),
      ...(players.table && { table: players.table }),
      ...thisGame(),
    };
  };
  const asNow = () => ({ ...all(named()), correction: true });
  const next = nextGame(context, true);
  // The players of the next game are unknown.
  const shown = () => (next.isMeant() || !context.status.game ? {} : named());
  const showPlayers = () => {
    for (const form of forms) form.show(shown());
    const { round: of, table: at } = shown();
    ofRound.value = of ?? "";
    ofTable.show(at, at ?? context.status.table);
  };
  next.element.addEventListener("change", showPlayers);
  const names = new Deed(context, {
    label: words.deeds.names,
    command() {
      const before = shown();
      const entered = Object.assign({}, ...forms.map((form) => form.changes(before)));
      for (const [name, number] of [["round", Number(ofRound.value)], ["table", ofTable.value()]]) {
        if (number && number !== (before[name] ?? null)) entered[name] = number;
      }
      if (Object.keys(entered).length === 0) return null;
      const isSwapped = before.white !== before.black && entered.white === before.black && entered.black === before.white;
      if (isSwapped && isPlaying(context.status)) {
        names.tell(words.deeds.swapBefore, "bad");
        return null;
      }
      return { do: "set_players", ...entered, ...(next.isMeant() ? {} : thisGame()) };
    },
    undo: () => (next.isMeant() ? null : asNow()),
  });
  const swap = new Deed(context, {
    label: words.deeds.swap,
    ask: () => words.deeds.swapAsk,
    answers() {
      const right = [words.deeds.swapNames, { correction: true }];
      return isPlaying(context.status) ? [right, [words.deeds.swapPieces, { correction: false }]] : [right];
    },
    command: () => all(named(), true),
    undo: asNow,
  });
  const table = tableField(words.deeds.boardTable);
  const setTable = new Deed(context, {
    label: words.deeds.tableGo,
    command: () => (table.value() ? { do: "set_table", table: table.value() } : null),
    undo: () => (context.status.table ? { do: "set_table", table: context.status.table } : null),
  });
  const round = input({ type: "number", min: "1", max: "999", inputmode: "numeric" });
  const number = () => Number(round.value) || null;
  const start = new Deed(context, {
    label: words.deeds.roundGo,
    command: () => ({ do: "start_round", ...(number() ? { round: number() } : {}) }),
    ask: () => (number() ? fill(context.isHub ? words.deeds.roundHallAsk : words.deeds.roundAllAsk, { round: number() }) : words.deeds.roundAsk),
  });
  const forget = new Deed(context, { label: words.deeds.forget, ask: () => words.deeds.forgetAsk, command: () => ({ do: "forget" }) });
  const who = make("div", "pair", {}, ...forms.map((form) => form.element));
  const where = make("div", "pair", {}, field(words.deeds.gameRound, ofRound), ofTable.element);
  const mayMove = context.may("set_table");
  const moving = mayMove ? [table.element, setTable.element] : [];
  const title = mayMove ? words.deeds.playersAndTable : words.deeds.players;
  const players = fold(title, next.element, who, where, names.element, swap.element, ...moving);
  const rest = fold(words.deeds.round, field(words.deeds.roundNumber, round, words.deeds.roundHelp), start.element, forget.element);
  // Fields follow the current values, unless the user is typing.
  let about = null;
  return {
    elements: context.may("start_round") ? [players, rest] : [players],
    update(status) {
      next.show(true);
      const known = JSON.stringify([status.board, shown(), status.table]);
      if (known !== about && !players.contains(document.activeElement)) {
        about = known;
        showPlayers();
        table.show(status.table, status.table);
      }
      swap.show(Boolean(named().white || named().black));
      forget.show(!status.connected && !isPlaying(status));
    },
  };
}

/** All forms for a board that the user may use. */
export function entering(context, shown, correct) {
  const element = make("section", "entries");
  if (!context.may("set_result")) return { element, update: () => {} };
  const parts = [results(context), positions(context, shown, correct), claims(context), notes(context), clocks(context)];
  element.append(...parts.map((part) => part.element));
  const seats = seating(context);
  element.append(...seats.elements);
  parts.push(seats);
  return {
    element,
    update(status) {
      for (const part of parts) part.update(status);
    },
  };
}
