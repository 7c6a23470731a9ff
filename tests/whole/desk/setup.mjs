// An operator at the desk, in chromium, from boards that were plugged in to the first move of a paired game: pairing files
// dropped in, a test of squares, the clock's side, the outputs, and the round begun.
//
//   node setup.mjs ADDRESS USER PASSWORD FOLDER [PROFILE]
//
// At ADDRESS two boards, board-1 and board-2, are not plugged in yet; a file "plug" in FOLDER has that done. On board-1 e2 and
// d7 lose their pieces and get them again; a1 never does. A file "play" has the games begin. It uses what is among the wall's
// scripts: viewer.mjs, playwright-core and axe-core.

import assert from "node:assert/strict";
import fs from "node:fs";
import os from "node:os";
import path from "node:path";
import { Viewer, browser, until } from "./viewer.mjs";

const [address, user, password, folder, profile = fs.mkdtempSync(path.join(os.tmpdir(), "setup-"))] = process.argv.slice(2);
const LONGEST = 240_000;
const WRONG = "round,board,white,black\n3,1,Adler,Berg\n3,1,Clausen,Dorn\n";
const UNREADABLE = 'round,board,white,black\n3,1,"Adler,Berg\n';
const ROUND =
  'round,board,white,white_fide_id,black,black_fide_id\n3,1,"Adler, Jonas",100001,"Berg, Ines",100002\n3,2,"Clausen, Per",100003,"Dorn, Uta",100004\n';

let viewer;
let page;

function step(title) {
  return page.locator(".step", { has: page.locator("h3", { hasText: title }) });
}

async function text(locator) {
  return (await locator.textContent()) ?? "";
}

async function looksWell(what) {
  assert.equal(await viewer.isTooWide(), false, `${what} is too wide`);
  assert.deepEqual(await viewer.barriers(), [], what);
}

/** Presses a button, and says yes where it asks. */
async function sure(button) {
  await button.click();
  const yes = page.locator(".question:not([hidden]) .main");
  if (!(await yes.isVisible())) return;
  // Nobody says yes before having read.
  await page.waitForTimeout(400);
  await yes.click();
}

async function comesIn() {
  await until("the form", 15, () => page.locator(".login").isVisible());
  await page.locator("[name=user]").fill(user);
  await page.locator("[name=password]").fill(password);
  await page.locator(".login button").click();
  await page.locator(".to-setup").click();
  await until("the set-up", 10, () => page.locator(".setup h2").isVisible());
  viewer.forgive(false);
  await until("nothing is there", 10, async () => /No board was found/.test(await text(step("Boards").locator(".wrong"))));
  await until("nor pairings", 10, async () => /no pairings yet/.test(await text(step("Pairings").locator(".wrong"))));
  await looksWell("an empty set-up");
}

async function drop(name, content) {
  await page.locator(".drop input").setInputFiles({ name, mimeType: "text/csv", buffer: Buffer.from(content) });
}

/** A file that cannot be read, one with something to look at, and one that holds. */
async function dropsPairingsIn() {
  const asked = page.locator(".asked");
  viewer.forgive(true);
  await drop("round 3.csv", UNREADABLE);
  await until("why it is refused", 10, async () => /line 2, column \d+: .*quotation mark/.test(await text(asked)));
  viewer.forgive(false);
  assert.equal(await asked.locator(".main").count(), 0, "it cannot be kept");
  await drop("round 3.csv", WRONG);
  await until("what was found", 10, async () => /line 3, column \d+/.test(await text(asked.locator(".findings"))));
  await looksWell("findings");
  assert.equal(await page.locator(".files li").count(), 0, "it does not hold");
  await drop("round 3.csv", ROUND);
  await until("nothing is missed", 10, async () => /Nothing is missing/.test(await text(asked)));
  await asked.locator(".main").click();
  await until("it is kept", 10, async () => /round 3.csv is stored/.test(await text(asked)));
  await until("who plays whom", 20, async () => /Adler, Jonas – Berg, Ines/.test(await text(page.locator(".pairs"))));
  // Boards that the settings name have got their pairings before they are plugged in.
  await until("boards are missing", 20, async () => /Not connected: board-1, board-2/.test(await text(step("Boards").locator(".wrong"))));
}

async function findsBoards() {
  fs.writeFileSync(path.join(folder, "plug"), "");
  const rows = step("Boards").locator(".rows > li");
  await until("both boards", 60, async () => (await rows.count()) === 2);
  await until("they answer", 60, async () => (await step("Boards").locator(".rows .chip.bad").count()) === 0);
  await until("with their tables", 20, async () => /done/.test(await text(step("Boards").locator("summary"))));
  // The second board is put at the first one's table, which is said, and back.
  const table = rows.nth(1).locator("input");
  await table.fill("1");
  await sure(rows.nth(1).getByRole("button", { name: /Put it at this table/ }));
  await until("two at a table", 15, async () => /several boards: board-1, board-2/.test(await text(step("Boards").locator(".wrong"))));
  await rows.nth(1).getByRole("button", { name: "Undo" }).click();
  await until("it is undone", 15, async () => /done/.test(await text(step("Boards").locator("summary"))));
  await until("its number is shown", 5, async () => (await table.inputValue()) === "2");
}

/** Squares that were seen are ticked, however quickly; the others may be dead. */
async function testsSquares() {
  const squares = step("Every square");
  const state = (square) => squares.locator(".square", { hasText: square }).getAttribute("data-state");
  await squares.locator("select").selectOption("board-1");
  for (const square of ["e2", "d7"]) await until(`${square} was seen`, 60, async () => (await state(square)) === "seen");
  assert.equal(await state("a1"), "open");
  await squares.getByRole("button", { name: "I have tried every square" }).click();
  await until("a1 may be dead", 5, async () => (await state("a1")) === "dead");
  assert.match(await text(squares.locator(".dead")), /Perhaps dead: .*a1/);
  await page.reload();
  await until("it is remembered", 20, async () => (await state("e2")) === "seen");
}

async function saysClockSides() {
  const clocks = step("White's side").locator(".rows > li");
  await until("the levers", 30, async () => /Lever up on the (left|right)/.test(await text(clocks.first())));
  await sure(clocks.first().getByRole("button", { name: /Set White's side to right/ }));
  await until("it is so", 15, async () => /White's clock is the right one/.test(await text(clocks.first())));
  await sure(clocks.first().getByRole("button", { name: /Set White's side to left/ }));
  await until("it is the other one", 15, async () => /White's clock is the left one/.test(await text(clocks.first())));
}

async function seesOutputs() {
  const outputs = step("Outputs");
  await until("the journal works", 15, async () => /Journal.*in order/.test(await text(outputs)));
  // A folder that gets the rounds is tried out, and can be again.
  await outputs.getByRole("button", { name: /^Test: .*live$/ }).click();
  await until("it is tested", 30, async () => /Tested at .*It works: a file was written/.test(await text(outputs)));
  assert.match(await text(page.locator("#said")), /live: It works/);
  assert.match(await page.evaluate(() => document.activeElement.getAttribute("aria-label") ?? ""), /^Test: /, "the focus stays");
  assert.equal(await outputs.getByRole("button", { name: /^Test: Journal/ }).count(), 0);
}

/** The room has the names before a game, the round begins, and the first move is that of the paired game. */
async function begins() {
  const go = step("Start");
  assert.match(await text(go), /Not in order: .*Every square/);
  await sure(go.getByRole("button", { name: "Start the round now" }));
  await until("it has begun", 30, async () => /Round 3 has started/.test(await text(go.locator(".answer"))));
  await looksWell("the set-up");
  fs.writeFileSync(path.join(folder, "play"), "");
  await page.locator(".back-to").click();
  const seat = page.locator(".seat", { hasText: "Adler, Jonas" });
  await until("the names in the room", 20, () => seat.isVisible());
  await until("a move", 120, async () => /^1\d?\.+ ?[a-zO]/.test(await text(seat.locator(".last"))));
}

/** In German, on a phone and on a large screen, in the dark. */
async function looksElsewhere(context) {
  for (const [width, dark] of [[320, true], [390, false], [2560, true]]) {
    const other = await Viewer.open(context, `${address}?lang=de#/setup`, width, dark);
    await until("Aufbau", 15, async () => /Bretter/.test(await other.page.locator(".setup h3").first().textContent()));
    await until("all is there", 15, async () => (await other.page.locator(".rows li").count()) > 3);
    assert.equal(await other.isTooWide(), false, `${width} is too wide`);
    assert.deepEqual(await other.barriers(), [], `at ${width}`);
    await other.close();
  }
}

setTimeout(() => {
  console.error("not in time");
  process.exit(1);
}, LONGEST);

const context = await browser(profile);
try {
  viewer = await Viewer.open(context, address, 1280, false);
  page = viewer.page;
  viewer.forgive(true);
  await comesIn();
  await dropsPairingsIn();
  await findsBoards();
  await testsSquares();
  await saysClockSides();
  await seesOutputs();
  await looksElsewhere(context);
  await begins();
  await viewer.close();
} catch (error) {
  console.error(error);
  process.exitCode = 1;
} finally {
  await context.close();
  process.exit();
}
