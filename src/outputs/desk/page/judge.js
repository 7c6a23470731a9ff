// Decisions on an incident.

import { make } from "/page/dom.js";
import { tableName } from "/page/tables.js";
import { asItWas } from "./correct.js";
import { Deed, field, fold, radios } from "./deed.js";
import { Draft } from "./draft.js";
import { Going } from "./going.js";
import { after } from "./position.js";
import { ending, fill, words } from "./words.js";

const CLAIMS = ["draw_claimed", "two_minute_claim"];
/** Kinds of incidents with a position to restore. */
const RESTORED = [
  "illegal_move", "promotion_not_replaced", "illegal_position", "displaced_pieces", "promotion_exchanged",
  "piece_touched_not_moved", "castling_rook_first", "two_hands_suspected", "record_uncertain", "continued_after_end",
];

/** The buttons for an incident, in the elements that `places` has for them, in the order in which they are needed. */
export function judging(context, incident, places) {
  const { kind, incident: number, evidence } = incident;
  const going = new Going(context.attend, context.may("attend") ? context.user : null);
  places.first.replaceChildren(going.element);
  const showGoing = (isOver) => {
    const { board, table, isShared, game, going: all } = context.status;
    const line = { key: `${board} ${number}`, board, table, isShared, incident: number, game: game?.game ?? null };
    going.update({ ...line, going: all.filter((one) => one.incident === number) });
    if (isOver) going.element.hidden = true;
  };
  const pass = () => going.element.hidden || going.pass();
  if (!context.may("close_incident")) return { update: showGoing, pass };
  const restore = new Deed(context, {
    label: words.deeds.restore,
    command: () => ({ do: "set_position", fen: evidence.fen }),
    ask() {
      context.view("before");
      return words.deeds.restoreAsk;
    },
    undo: () => undoRestore(context, evidence.fen),
  });
  const isClaim = CLAIMS.includes(kind);
  const claims = [];
  if (isClaim) {
    const ruling = (name, ask) =>
      new Deed(context, { label: words.deeds[name], ask, command: () => ({ do: "decide_claim", ruling: name, incident: number }) });
    claims.push(ruling("accept", () => words.deeds.acceptAsk), ruling("reject", () => words.deeds.rejectAsk));
    if (kind === "two_minute_claim") claims.push(ruling("postpone"));
  }
  const questions = kind === "second_game" ? pairing(context, evidence.values) : [];
  const settle = settling(context, incident);
  const dismissal = make("input", "", { value: words.deeds.dismissed });
  const dismiss = new Deed(context, {
    label: words.deeds.dismiss,
    ask: () => words.deeds.dismissAsk,
    command: () => ({ do: "close_incident", incident: number, decision: dismissal.value.trim() || words.deeds.dismissed, counts: false }),
  });
  const dismissing = fold(words.deeds.dismiss, field(words.deeds.decision, dismissal), dismiss.element);
  const hasPosition = evidence.fen && RESTORED.includes(kind);
  const final = finalResult(context, incident);
  // If the game is over, its result comes before its position.
  places.restoring.replaceChildren(...[final?.element, hasPosition && restore.element].filter(Boolean));
  places.deeds.append(...[...claims, ...questions].map((deed) => deed.element), settle.element, dismissing);
  return {
    pass,
    /** `isOver` is whether the incident is closed. */
    update(isOver) {
      showGoing(isOver);
      restore.show(!isOver);
      final?.show(!isOver);
      for (const deed of [...claims, ...questions]) deed.show(!isOver);
      dismissing.hidden = isOver;
      settle.update(isOver);
    },
  };
}

/** The choices for a second game at a table. */
function pairing(context, { round, table, second }) {
  const replay = new Deed(context, {
    label: fill(words.deeds.replay, { round }),
    ask: () => fill(words.deeds.replayAsk, { round, table: tableName(table) }),
    command: () => ({ do: "assign_game", game: second, round, table }),
    undo: () => ({ do: "assign_game", game: second }),
  });
  const beside = new Deed(context, { label: words.deeds.noReplay, command: () => ({ do: "assign_game", game: second }) });
  return [replay, beside];
}

/** The result that the incident leads to if the arbiter confirms it; null if the game goes on or the Laws leave it open. */
function finalResult(context, incident) {
  const { kind, color } = incident;
  const ends = ending(incident);
  if (!color || (kind !== "flag_fall" && !["lost", "drawn"].includes(ends))) return null;
  const reason = kind === "flag_fall" ? "flag" : "illegal_moves";
  const result = ends === "drawn" ? "1/2-1/2" : color === "white" ? "0-1" : "1-0";
  const game = () => context.status.game?.game;
  return new Deed(context, {
    label: fill(words.deeds.finalResult, { result: words.results[result], reason: words.reasons[reason] }),
    tone: "main",
    command: () => ({ do: "set_result", result, reason, game: game() }),
    ask: () => fill(words.deeds.resultAsk, { result: `${words.results[result]}, ${words.reasons[reason]}` }),
    undo: () => ({ do: "set_result", result: "*", game: game() }),
  });
}

function settling(context, { incident: number, severity, kind }) {
  const decision = make("textarea", "", { rows: "2" });
  const isOffence = severity === "violation" || kind === "illegal_move";
  const choices = [["true", words.deeds.countsYes], ["false", words.deeds.countsNo], ["", words.deeds.countsOpen]];
  const counts = radios(words.deeds.counts, choices, "");
  const deed = new Deed(context, {
    label: words.deeds.settleGo,
    tone: "main",
    command() {
      const text = decision.value.trim();
      if (!text) {
        decision.focus();
        return null;
      }
      const chosen = isOffence ? counts.value() : "";
      return { do: "close_incident", incident: number, decision: text, ...(chosen ? { counts: chosen === "true" } : {}) };
    },
    done: () => draft.done(),
  });
  const draft = new Draft(decision, context.user, context.status.board, "decision", number);
  const about = field(words.deeds.decision, decision, words.deeds.decisionHelp);
  const element = fold(words.deeds.settle, about, ...(isOffence ? [counts.element] : []), deed.element);
  element.open = draft.isRestored;
  const title = element.querySelector("summary");
  return {
    element,
    update(isOver) {
      const label = isOver ? words.deeds.decide : words.deeds.settle;
      if (title.textContent !== label) title.textContent = label;
    },
  };
}

/** The command that undoes a restored position: it enters the withdrawn moves again, or sets the current position. */
function undoRestore(context, fen) {
  const { game } = context.status;
  if (!game) return null;
  for (let ply = game.moves.length; ply >= 0; ply -= 1) {
    if (after(game, ply) === fen) return ply < game.moves.length ? asItWas(context, ply + 1) : null;
  }
  return { do: "set_position", fen: game.fen };
}

