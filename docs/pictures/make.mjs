// Makes the pictures of the documentation: the daemon watches games on twelve emulated boards, and a browser shows the
// wall, the desk and the report of a game.
//
//   cargo build && node docs/pictures/make.mjs [KIEBITZ]
//
// Needs chromium, npm and pngquant. Review the pictures before you commit them.

import { spawn, spawnSync } from "node:child_process";
import fs from "node:fs";
import { createRequire } from "node:module";
import net from "node:net";
import os from "node:os";
import path from "node:path";

const here = import.meta.dirname;
const project = path.resolve(here, "../..");
const kiebitz = path.resolve(process.argv[2] ?? path.join(project, "target/debug/kiebitz"));
const folder = fs.mkdtempSync(path.join(os.tmpdir(), "pictures-"));
const PASSWORD = "a-password-for-pictures";
const ILLEGAL = 4;
const GAMES = [
  "1. e4 e5 2. Nf3 Nc6 3. Bb5 a6 4. Ba4 Nf6 5. O-O Be7 6. Re1 b5 7. Bb3 d6 8. c3 O-O 9. h3 Nb8 10. d4 Nbd7 11. Nbd2 Bb7 12. Bc2 Re8",
  "1. d4 d5 2. c4 e6 3. Nc3 Nf6 4. Bg5 Be7 5. e3 O-O 6. Nf3 h6 7. Bh4 b6 8. cxd5 Nxd5 9. Bxe7 Qxe7 10. Nxd5 exd5 11. Rc1 Be6",
  "1. e4 c5 2. Nf3 d6 3. d4 cxd4 4. Nxd4 Nf6 5. Nc3 a6 6. Be3 e5 7. Nb3 Be6 8. f3 Be7 9. Qd2 O-O 10. O-O-O Nbd7 11. g4 b5",
  "1. e4 e5 2. Nf3 Nc6 3. Bc4 Bc5 4. c3 Nf6 5. d3 d6 6. O-O a6 7. Re1 Ba7 8. Bb3 O-O 9. h3 h6 10. Nbd2 Re8 11. Nf3f5",
  "1. d4 Nf6 2. c4 g6 3. Nc3 Bg7 4. e4 d6 5. Nf3 O-O 6. Be2 e5 7. O-O Nc6 8. d5 Ne7 9. Ne1 Nd7 10. Nd3 f5 11. Bd2 Nf6",
  "1. e4 c6 2. d4 d5 3. Nc3 dxe4 4. Nxe4 Bf5 5. Ng3 Bg6 6. h4 h6 7. Nf3 Nd7 8. h5 Bh7 9. Bd3 Bxd3 10. Qxd3 e6 11. Bd2 Ngf6",
  "1. e4 e6 2. d4 d5 3. Nc3 Bb4 4. e5 c5 5. a3 Bxc3+ 6. bxc3 Ne7 7. Qg4 O-O 8. Bd3 Nbc6 9. Qh5 Ng6 10. Nf3 Qc7 11. Be3 c4",
  "1. d4 Nf6 2. c4 e6 3. Nc3 Bb4 4. e3 O-O 5. Bd3 d5 6. Nf3 c5 7. O-O Nc6 8. a3 Bxc3 9. bxc3 dxc4 10. Bxc4 Qc7 11. Bd3 e5",
  "1. c4 e5 2. Nc3 Nf6 3. Nf3 Nc6 4. g3 d5 5. cxd5 Nxd5 6. Bg2 Nb6 7. O-O Be7 8. d3 O-O 9. a3 Be6 10. b4 a5 11. b5 Nd4",
  "1. d4 d5 2. c4 c6 3. Nf3 Nf6 4. Nc3 dxc4 5. a4 Bf5 6. e3 e6 7. Bxc4 Bb4 8. O-O O-O 9. Qe2 Nbd7 10. e4 Bg6 11. Bd3 Bh5",
  "1. e4 e5 2. Nf3 Nf6 3. Nxe5 d6 4. Nf3 Nxe4 5. d4 d5 6. Bd3 Nc6 7. O-O Be7 8. c4 Nb4 9. Be2 O-O 10. Nc3 Bf5 11. a3 Nxc3",
  "1. e4 e5 2. Qh5 Nc6 3. Bc4 Nf6 4. Qxf7# 1-0",
];
const PLAYERS = [
  "Morphy, Paul", "Anderssen, Adolf", "Staunton, Howard", "Steinitz, Wilhelm", "Zukertort, Johannes", "Blackburne, Joseph",
  "Chigorin, Mikhail", "Lasker, Emanuel", "Tarrasch, Siegbert", "Pillsbury, Harry", "Rubinstein, Akiba", "Schlechter, Carl",
  "Menchik, Vera", "Marshall, Frank", "Nimzowitsch, Aron", "Capablanca, Jose Raul", "Réti, Richard", "Alekhine, Alexander",
  "Bogoljubov, Efim", "Euwe, Max", "Spielmann, Rudolf", "Tartakower, Savielly", "Maróczy, Géza", "Janowski, Dawid",
];

function freePort() {
  return new Promise((done) => {
    const server = net.createServer();
    server.listen(0, "127.0.0.1", () => {
      const { port } = server.address();
      server.close(() => done(port));
    });
  });
}

const file = (name, text) => fs.writeFileSync(path.join(folder, name), text);

async function configure() {
  const [wall, desk] = [await freePort(), await freePort()];
  const boards = GAMES.map((_, nth) => {
    const link = JSON.stringify(path.join(folder, "links", `board-${nth + 1}`));
    return `[[port]]\npath = ${link}\nmode = "single"\n[[board]]\nport = ${link}\nname = "board-${nth + 1}"\n`;
  });
  const at = (name) => JSON.stringify(path.join(folder, name));
  file(
    "kiebitz.toml",
    `[daemon]\nname = "hall"\nstate_directory = ${at("state")}\n` +
      `[event]\nname = "Masters of the past"\ntime_control = "90+30"\npairings = [${at("round.csv")}]\n` +
      `[publish]\nlisten = "127.0.0.1:${wall}"\n[desk]\nlisten = "127.0.0.1:${desk}"\nusers_file = ${at("users")}\n` +
      `[ports]\nusb = false\n${boards.join("")}`,
  );
  const pairings = GAMES.map((_, nth) => `1,${nth + 1},"${PLAYERS[2 * nth]}","${PLAYERS[2 * nth + 1]}"`);
  file("round.csv", `round,board,white,black\n${pairings.join("\n")}\n`);
  file("games.pgn", GAMES.map((game) => `[White "a"]\n[Black "b"]\n\n${game}${game.endsWith("-0") ? "" : " *"}\n`).join("\n"));
  const user = spawnSync(kiebitz, ["user", "--role", "operator", "meier"], { input: `${PASSWORD}\n` });
  file("users", user.stdout);
  return { wall, desk };
}

function start(...args) {
  const log = fs.openSync(path.join(folder, "log"), "a");
  return spawn(kiebitz, args, { cwd: folder, stdio: ["pipe", log, log] });
}

/** Installs the browser driver of the tests from their lock file. */
function playwright() {
  const npm = path.join(project, "target/pictures");
  fs.mkdirSync(npm, { recursive: true });
  for (const name of ["package.json", "package-lock.json"]) {
    fs.copyFileSync(path.join(project, "tests/whole/npm", name), path.join(npm, name));
  }
  const installed = spawnSync("npm", ["ci", "--no-audit", "--no-fund", "--ignore-scripts"], { cwd: npm, stdio: "inherit" });
  if (installed.status !== 0) throw new Error("npm failed");
  return createRequire(path.join(npm, "package.json"))("playwright-core");
}

async function picture(page, name) {
  const to = path.join(here, `${name}.png`);
  await page.screenshot({ path: to });
  const made = spawnSync("pngquant", ["--force", "--output", to, "--strip", "128", to], { stdio: "inherit" });
  if (made.status !== 0) throw new Error("pngquant failed");
}

async function logIn(page, port) {
  await page.goto(`http://127.0.0.1:${port}/`);
  await page.locator("[name=user]").fill("meier");
  await page.locator("[name=password]").fill(PASSWORD);
  await page.locator(".login button").click();
  await page.locator(".needs li.violation").first().waitFor({ timeout: 180_000 });
}

async function main() {
  const { chromium } = playwright();
  const { wall, desk } = await configure();
  const programs = [start("run", "--config", "kiebitz.toml")];
  const emulate = ["emulate", "--boards", String(GAMES.length), "--pgn", "games.pgn", "--speed", "8", "--seed", "5"];
  programs.push(start(...emulate, "--links", "links"));
  const browser = await chromium.launch({ executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium", args: ["--no-sandbox"] });
  try {
    const open = (width, height) => browser.newPage({ viewport: { width, height }, locale: "en-GB", colorScheme: "light", reducedMotion: "reduce" });
    const arbiter = await open(1280, 860);
    await arbiter.waitForTimeout(3000);
    await logIn(arbiter, desk);
    // All players stop, so that the position of the illegal move stays on the board and no game ends.
    programs[1].stdin.write("wait all\n");
    const spectator = await open(1280, 860);
    await spectator.goto(`http://127.0.0.1:${wall}/`);
    await spectator.locator("cg-board").first().waitFor();
    await spectator.waitForTimeout(2000);
    await picture(spectator, "wall");
    await arbiter.locator(".needs li.violation .line").first().click();
    await arbiter.locator(".opened").waitFor();
    await arbiter.waitForTimeout(1500);
    await picture(arbiter, "desk");
    const games = spawnSync(kiebitz, ["games", "--json", "--config", "kiebitz.toml"], { cwd: folder, encoding: "utf8" });
    const listed = games.stdout.trim().split("\n").map((line) => JSON.parse(line));
    const { game } = listed.find(({ board }) => board === `board-${ILLEGAL}`);
    spawnSync(kiebitz, ["report", game, "--config", "kiebitz.toml", "-o", "report.html"], { cwd: folder, stdio: "inherit" });
    const reader = await open(860, 860);
    await reader.goto(`file://${path.join(folder, "report.html")}`);
    await picture(reader, "report");
  } finally {
    await browser.close();
    const ended = programs.map((program) => new Promise((done) => program.once("exit", done)));
    for (const program of programs) program.kill();
    await Promise.all(ended);
    fs.rmSync(folder, { recursive: true, force: true });
  }
}

await main();
