// Positions and moves for drawing. The rules of chess are not implemented here: the server decides what is legal.

const FILES = "abcdefgh";
export const START_FEN = "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1";

/** Pieces of a placement or FEN, as a map from square to letter. */
export function pieces(fen) {
  const on = new Map();
  fen.split(" ")[0].split("/").forEach((rank, down) => {
    let file = 0;
    for (const letter of rank) {
      if (/\d/.test(letter)) file += Number(letter);
      else {
        on.set(`${FILES[file]}${8 - down}`, letter);
        file += 1;
      }
    }
  });
  return on;
}

/** Placement as in FEN, from a map of pieces. */
export function placement(on) {
  const rank = (number) => [...FILES].map((file) => on.get(`${file}${number}`) ?? "1").join("");
  return [8, 7, 6, 5, 4, 3, 2, 1].map(rank).join("/").replace(/1+/g, (empty) => String(empty.length));
}

/** Squares on which two placements differ. */
export function difference(one, other) {
  const [first, second] = [pieces(one), pieces(other)];
  return [...new Set([...first.keys(), ...second.keys()])].filter((square) => first.get(square) !== second.get(square)).sort();
}

/** Colour of the piece with this letter. */
export function owner(letter) {
  return letter === letter.toUpperCase() ? "white" : "black";
}

/** Whether a move is a promotion. */
export function isPromotion(fen, from, to) {
  const letter = pieces(fen).get(from);
  return (letter === "P" && to[1] === "8") || (letter === "p" && to[1] === "1");
}

/** UCI of a move by drag and drop. For castling, the king moves two squares, but takes the rook in Chess960. */
export function uci(fen, from, to, is960) {
  const on = pieces(fen);
  const [king, rook] = [on.get(from), on.get(to)];
  const takesRook = (king === "K" && rook === "R") || (king === "k" && rook === "r");
  if (takesRook && !is960) return `${from}${to > from ? "g" : "c"}${from[1]}`;
  return `${from}${to}`;
}

/** Placement after a move in UCI. */
export function play(fen, move, is960) {
  const on = pieces(fen);
  const [from, to] = [move.slice(0, 2), move.slice(2, 4)];
  const piece = on.get(from);
  if (!piece) return placement(on);
  const taken = on.get(to);
  const isKing = piece.toLowerCase() === "k";
  const isPawn = piece.toLowerCase() === "p";
  on.delete(from);
  if (isKing && taken && owner(taken) === owner(piece)) {
    on.delete(to);
    castle(on, piece, taken, from, to > from);
  } else if (isKing && !is960 && from[0] === "e" && (to[0] === "g" || to[0] === "c") && from[1] === to[1]) {
    const corner = `${to[0] === "g" ? "h" : "a"}${from[1]}`;
    const rook = on.get(corner);
    on.delete(corner);
    if (rook) castle(on, piece, rook, from, to[0] === "g");
    else on.set(to, piece);
  } else {
    // A pawn that changes its file without a capture on its target square captures en passant.
    if (isPawn && from[0] !== to[0] && !taken) on.delete(`${to[0]}${from[1]}`);
    const become = move[4];
    on.set(to, become ? (owner(piece) === "white" ? become.toUpperCase() : become) : piece);
  }
  return placement(on);
}

function castle(on, king, rook, from, short) {
  on.set(`${short ? "g" : "c"}${from[1]}`, king);
  on.set(`${short ? "f" : "d"}${from[1]}`, rook);
}

/** FEN after a ply of a game, or the position that the arbiter set there; 0 is the start. */
export function after(game, ply) {
  const set = (game.positions ?? []).filter((one) => one.ply === ply).at(-1);
  return set?.fen ?? game.moves[ply - 1]?.fen ?? game.start_fen;
}

/** FEN of the placement on the board. Castling rights are those of the game, if king and rook are on their squares. */
export function standing(shown, known, turn) {
  const on = pieces(shown);
  const [, , castling = "-", , quiet = "0", number = "1"] = known.split(" ");
  const homes = { K: ["e1", "h1", "KR"], Q: ["e1", "a1", "KR"], k: ["e8", "h8", "kr"], q: ["e8", "a8", "kr"] };
  const kept = [...castling].filter((right) => {
    const home = homes[right];
    return home && on.get(home[0]) === home[2][0] && on.get(home[1]) === home[2][1];
  });
  return [shown, turn === "white" ? "w" : "b", kept.join("") || "-", "-", quiet, number].join(" ");
}

/** Position before the changes of an incident: among the possible ones, the one that fits the changes best. */
function before(incident, game) {
  const { fen, changes } = incident.evidence;
  const due = Math.max(1, incident.ply ?? 1);
  const asked = [fen];
  for (let ply = due; game && ply >= Math.max(0, due - 8); ply -= 1) if (ply <= game.moves.length) asked.push(after(game, ply));
  const misfits = (one) => {
    const on = pieces(one);
    let count = 0;
    for (const { square, piece } of changes) {
      if ((on.get(square) ?? null) === piece) count += 1;
      if (piece === null) on.delete(square);
      else on.set(square, piece);
    }
    return count;
  };
  let [best, least] = [fen, Infinity];
  for (const one of asked.filter(Boolean)) {
    const count = misfits(one);
    if (count < least) [best, least] = [one, count];
  }
  return best;
}

/** The changes of an incident one by one, each with the placement after it. */
export function moments(incident, game) {
  const on = pieces(before(incident, game));
  return incident.evidence.changes.map(({ at, square, piece }) => {
    const was = on.get(square) ?? null;
    if (piece === null) on.delete(square);
    else on.set(square, piece);
    return { at, square, piece, was, placement: placement(on) };
  });
}
