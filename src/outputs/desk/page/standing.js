// What stands on the board, in one sentence that is true in every state of board, game and incidents.

import { differing } from "./evidence.js";
import { doubtful, isPlaying } from "./lines.js";
import { lasts } from "./room.js";
import { fill, numbered, result, shortTime, titleOf, words } from "./words.js";

/** Kinds of open incidents about the position on the board, each with a sentence of its own. */
const OF_POSITION = [
  "promotion_not_replaced", "illegal_position", "wrong_start_position", "board_rotated", "displaced_pieces", "promotion_exchanged",
  "continued_after_end", "record_uncertain",
];

/** Number of squares up to which they are named. */
const MANY = 6;

/** The first field of a FEN. */
const placed = (fen) => fen?.split(" ")[0];

/** Open incidents that concern people. */
function openOf({ incidents }) {
  return incidents.filter(({ severity }) => severity !== "info");
}

/** Describes a position in which an illegal move has not been put right; null if there is none. */
function afterIllegal({ game }) {
  const { stands } = words;
  const wrong = game.moves.findLast(({ legal }) => !legal);
  if (!wrong) return null;
  const move = numbered(game, wrong.ply);
  return fill(wrong.ply === game.moves.length ? stands.illegalMove : stands.illegalBefore, { move });
}

/** Describes a position that is as the game expects, as [sentence, kind of the incident that it names]. */
function asExpected(status) {
  const { stands } = words;
  const open = openOf(status);
  const other = open.find(({ kind }) => OF_POSITION.includes(kind));
  if (other) return [stands[other.kind], other.kind];
  const illegal = afterIllegal(status);
  if (illegal) return [illegal, "illegal_move"];
  if (isRestored(status)) return [stands.restored, null];
  const unsure = doubtful(status);
  if (unsure.length) return [fill(stands.doubtful, { move: numbered(status.game, unsure[0].ply) }), null];
  return [open.length ? stands.recorded : stands.same, null];
}

/** Whether the last legal position before an illegal move is on the board. */
function isRestored(status) {
  return openOf(status).some(({ kind, evidence }) => kind === "illegal_move" && placed(evidence.fen) === status.placement);
}

/** Describes what stands on the board, as [sentence, kind of the incident that it names]. */
function ofPosition(status) {
  const { stands } = words;
  const { game, connected, away, game_placement: expected } = status;
  if (away) return [stands.away, null];
  if (!connected) {
    const { gone_since: since } = status;
    return [since ? fill(stands.goneSince, { time: shortTime(since) }) : stands.gone, "board_disconnected"];
  }
  const differ = [...differing(status).keys()];
  const count = differ.length;
  const squares = count > MANY ? fill(stands.squares, { n: count }) : differ.join(", ");
  if (game === null) return [expected ? (squares ? fill(stands.before, { squares }) : stands.start) : stands.none, null];
  if (!isPlaying(status)) {
    const how = result(game.result) || (words.reasons[game.reason] ?? game.reason ?? "*");
    return [fill(game.confirmed ? stands.over : stands.overOpen, { result: how }), null];
  }
  if (!expected) return [stands.unknown, null];
  if (!squares) return asExpected(status);
  if (isRestored(status)) return [stands.restored, null];
  if (count > MANY) return [fill(stands.many, { n: count }), null];
  return [fill(lasts(status) ? stands.differs : stands.moving, { squares }), null];
}

/** The sentences for a board's status: what stands on the board, and the open incidents that this does not name. */
export function standing(status) {
  const [sentence, named] = ofPosition(status);
  const others = openOf(status).filter(({ kind }) => kind !== named);
  const titles = others.length > 2 ? fill(words.stands.incidents, { n: others.length }) : others.map(titleOf).join("; ");
  const open = others.length ? fill(words.stands.open, { titles }) : "";
  return [sentence, open].filter(Boolean).join(" ");
}
