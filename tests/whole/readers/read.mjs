// Reads the games on its input with chess.js and chessops. Prints for each game how many plies they have played.

import fs from "node:fs";
import { Chess } from "chess.js";
import { parsePgn, startingPosition } from "chessops/pgn";
import { parseSan } from "chessops/san";

const text = fs.readFileSync(0, "utf8");
const chessops = [];
for (const game of parsePgn(text)) {
  const position = startingPosition(game.headers).unwrap();
  let plies = 0;
  for (const { san } of game.moves.mainline()) {
    const move = parseSan(position, san);
    if (!move) throw new Error(`chessops: ${game.headers.get("Event")}: ${san} after ${plies} plies`);
    position.play(move);
    plies += 1;
  }
  chessops.push(plies);
}
// chess.js does not support castling in Chess960.
const chessjs = text
  .split(/\n\n(?=\[Event )/)
  .filter((game) => !game.includes('[Variant "Chess960"]'))
  .map((game) => {
    const chess = new Chess();
    chess.loadPgn(`${game.trim()}\n`);
    return chess.history().length;
  });
console.log(JSON.stringify({ chessops, chessjs }));
