// An operator prepares a round at the desk in chromium, from plugging in the boards to the first move of a paired game:
// uploads pairing files, tests squares and outputs, sets the clock's side, and starts the round.
//
//   node setup.mjs ADDRESS USER PASSWORD FOLDER [PROFILE]
//
// board-1 and board-2 of the desk at ADDRESS must not be plugged in yet. The caller must plug them in when the script
// creates the file "plug" in FOLDER; then the pieces on e2 and d7 of board-1 must disappear and return, but not the one
// on a1. The caller must stop kiebitz and start it again when the script creates the file "restart", and start the games
// when it creates the file "play". Needs viewer.mjs, playwright-core and axe-core in the same folder: see npm.rs.

import assert from "node:assert/strict";
import fs from "node:fs";
import os from "node:os";
import path from "node:path";
import { Viewer, browser, eventually, until } from "./viewer.mjs";

const [address, user, password, folder, profile = fs.mkdtempSync(path.join(os.tmpdir(), "setup-"))] = process.argv.slice(2);
const LONGEST = 900_000;
const WRONG = "round,board,white,black\n3,1,Adler,Berg\n3,1,Clausen,Dorn\n";
const UNREADABLE = 'round,board,white,black\n3,1,"Adler,Berg\n';
const HEAD = "round,board,white,white_fide_id,black,black_fide_id,time_control\n";
const ROUND = `${HEAD}3,1,"Adler, Jonas",100001,"Berg, Ines",100002,15+10\n3,2,"Clausen, Per",100003,"Dorn, Uta",100004,15+10\n`;
/** The same round with exchanged colours at table 1, another player at table 2, and the time control of the clocks. */
const CORRECTED = `${HEAD}3,1,"Berg, Ines",100002,"Adler, Jonas",100001,90+30\n3,2,"Clausen, Per",100003,"Young, Kim",100009,90+30\n`;

let viewer;
let page;

function step(title) {
  return page.locator(".step", { has: page.locator("h3", { hasText: title }) });
}

async function text(locator) {
  return (await locator.textContent()) ?? "";
}

async function assertUsable(what) {
  await eventually(async () => assert.equal(await viewer.isTooWide(), false, `${what} is too wide`));
  await eventually(async () => assert.deepEqual(await viewer.barriers(), [], what));
}

/** Whether an element is in the window and not covered. */
function isInView(locator) {
  return locator.evaluate((one) => {
    const { top, bottom, left, right } = one.getBoundingClientRect();
    const isInside = top >= 0 && bottom <= innerHeight;
    return isInside && one.contains(document.elementFromPoint((left + right) / 2, (top + bottom) / 2));
  });
}

/** Presses a button, and confirms if the page asks. */
async function confirm(button) {
  await button.click();
  const yes = page.locator(".question:not([hidden]) .main");
  if (!(await yes.isVisible())) return;
  // The page ignores a confirmation that comes too quickly.
  await page.waitForTimeout(400);
  await yes.click();
}

async function logsIn() {
  await until("the form", () => page.locator(".login").isVisible());
  await page.locator("[name=user]").fill(user);
  await page.locator("[name=password]").fill(password);
  await page.locator(".login button").click();
  // The list does not say that nothing is to be done.
  const before = page.locator(".before");
  await until("what the set-up lacks", async () => (await text(before)) === "Before the round: boards and pairings are not in order.");
  await eventually(async () => assert.equal(await page.getByText("Nothing to do.").isVisible(), false));
  await before.locator("a").click();
  await until("the set-up", () => page.locator(".setup h2").isVisible());
  viewer.ignoreNetworkErrors(false);
  await until("nothing is there", async () => /No board was found/.test(await text(step("Boards").locator(".wrong"))));
  await until("nor pairings", async () => /no pairings yet/.test(await text(step("Pairings").locator(".wrong"))));
  // The last step names what stops the round, and leads there.
  const go = step("Start");
  await eventually(async () => assert.match(await text(go), /The round cannot begin yet:Boards: no board was foundPairings: there are none yet/));
  await eventually(async () => assert.ok(await go.locator(".again .main").isDisabled()));
  const toPairings = go.getByRole("link", { name: "Pairings: there are none yet" });
  for (const how of ["a new address", "the same address"]) {
    await toPairings.click();
    await until(`the pairings, at ${how}`, () => step("Pairings").evaluate((one) => one.contains(document.activeElement)));
    await eventually(async () => assert.ok(await isInView(step("Pairings").locator("h3"))));
    await page.evaluate(() => document.activeElement.blur());
  }
  await assertUsable("an empty set-up");
}

/** The form for the first operator states the rule for passwords beforehand, and a command only beside the code. */
async function helpsFirstOperator() {
  const [intro, ...helps] = await page.evaluate(async () => {
    const { form } = await import("/desk/session.js");
    const { element } = form(() => {}, "", true);
    return [...element.querySelectorAll("p:not(.answer), small")].map((one) => one.textContent);
  });
  assert.doesNotMatch(intro, /journalctl/);
  assert.match(helps[0], /journalctl -u kiebitz/);
  assert.equal(helps[1], "at least 8 characters");
}

/** Time controls in the seconds of PGN are shown as on a clock. */
async function formatsTimeControls() {
  const shown = await page.evaluate(async () => {
    const { controlText } = await import("/desk/words.js");
    return ["5400+30", "300", "90+30", "40/7200:3600", null].map(controlText);
  });
  assert.deepEqual(shown, ["1:30:00 + 30 s", "5:00", "90+30", "40/7200:3600", null]);
}

async function drop(name, content) {
  await page.locator(".drop input").setInputFiles({ name, mimeType: "text/csv", buffer: Buffer.from(content) });
}

/** Uploads an unreadable file, a file with findings, and a file that is then used. */
async function uploadsPairings() {
  const answer = page.locator(".asked");
  viewer.ignoreNetworkErrors(true);
  await drop("round 3.csv", UNREADABLE);
  await until("why it is refused", async () => /line 2, column \d+: .*quotation mark/.test(await text(answer)));
  viewer.ignoreNetworkErrors(false);
  await eventually(async () => assert.equal(await answer.locator(".main").count(), 0, "it cannot be kept"));
  await drop("round 3.csv", WRONG);
  await until("what was found", async () => /line 3, column \d+/.test(await text(answer.locator(".findings"))));
  await assertUsable("findings");
  await eventually(async () => assert.equal(await page.locator(".files li").count(), 0, "it does not hold"));
  await drop("round 3.csv", ROUND);
  await until("nothing is missed", async () => /Nothing is missing/.test(await text(answer)));
  await answer.locator(".main").click();
  await until("it is read", async () => /round 3\.csv is stored and is being read/.test(await text(answer)));
  await eventually(async () => assert.doesNotMatch(await text(step("Pairings").locator(".wrong")), /no pairings yet/));
  await until("it is in use", async () => /round 3\.csv is stored and in use/.test(await text(answer)));
  await until("who plays whom", async () => /Adler, Jonas – Berg, Ines/.test(await text(page.locator(".pairs"))));
  // Boards named in the configuration have their pairings before they are plugged in.
  await until("boards are missing", async () => /Not connected: Table 1 \(board-1\), Table 2 \(board-2\)/.test(await text(step("Boards").locator(".wrong"))));
}

/** A click selects the number of a table. A number far above all tables is saved only if Enter is pressed again. */
async function asksAboutFarTable(boards, row, field) {
  await field.click();
  await page.keyboard.type("34");
  await eventually(async () => assert.equal(await field.inputValue(), "34", "typing replaces the number"));
  await page.keyboard.press("Enter");
  const question = row.locator(".of-table .doubt");
  await until("the question", async () => /Table 34\? The last one is 2\./.test(await text(question)));
  await assertUsable("the question about a table");
  await eventually(async () => assert.ok(await isInView(question), "nothing covers the question"));
  await page.keyboard.type("3");
  await until("another number is typed", async () => (await text(question)) === "" && (await field.inputValue()) === "3");
  await field.dblclick();
  await page.keyboard.type("34");
  await page.keyboard.press("Enter");
  await until("the same question", async () => /Table 34\?/.test(await text(question)));
  await page.keyboard.press("Enter");
  await until("it is saved", async () => /board-1 at table 34/.test(await text(boards.locator(".sheet-foot .answer"))));
  await page.setViewportSize({ width: 1280, height: 300 });
  await field.evaluate((one) => one.scrollIntoView({ block: "center" }));
  await eventually(async () => assert.ok(await isInView(boards.locator(".sheet-foot .undo")), "the answer is in view"));
  await page.setViewportSize({ width: 1280, height: 800 });
  await boards.locator(".sheet-foot .undo").click();
  await until("it is undone", async () => (await field.inputValue()) === "1");
  await eventually(async () => assert.match(await text(boards.locator(".sheet-foot .answer")), /^Done: board-1 at table 1$/));
}

async function findsBoards() {
  const boards = step("Boards");
  await eventually(async () => assert.doesNotMatch(await text(step("Every square").locator("summary")), /64/, "nothing was tested without boards"));
  fs.writeFileSync(path.join(folder, "plug"), "");
  const rows = boards.locator(".sheet tbody tr");
  await until("both boards", async () => (await rows.count()) === 2);
  await until("they answer", async () => (await boards.locator(".sheet .chip.advice").count()) === 0);
  await until("their serial numbers", async () => /0000010001/.test(await text(rows.nth(0))));
  // The second board is typed to the table of the first one, which is refused before anything is sent.
  const [one, other] = [rows.nth(0).locator("input"), rows.nth(1).locator("input")];
  await until("their tables", async () => (await other.inputValue()) === "2");
  await asksAboutFarTable(boards, rows.nth(0), one);
  await other.fill("1");
  await eventually(async () => assert.match(await text(boards.locator(".sheet-foot .answer")), /table 1 has several boards: board-1, board-2/));
  await other.press("Enter");
  await assertUsable("two boards at a table");
  await eventually(async () => assert.doesNotMatch(await text(boards.locator(".wrong")), /several boards/, "nothing was sent"));
  // With the other number changed, both are saved by Enter.
  await one.fill("2");
  await one.press("Enter");
  await until("both are saved", async () => /board-1 at table 2, board-2 at table 1/.test(await text(boards.locator(".sheet-foot .answer"))));
  await eventually(async () => assert.equal(await page.evaluate(() => document.activeElement.getAttribute("aria-label")), "Table: board-2", "on to the next"));
  await page.evaluate(() => document.activeElement.blur());
  await boards.locator(".numbering select").selectOption("serial");
  await confirm(boards.getByRole("button", { name: "Number 1 to 2 in this order" }));
  await until("all are numbered", async () => /board-1 at table 1, board-2 at table 2/.test(await text(boards.locator(".numbering .answer"))));
  await until("the numbers are shown", async () => (await one.inputValue()) === "1" && (await other.inputValue()) === "2");
  await eventually(async () => assert.equal(await text(boards.locator(".sheet-foot .answer")), "", "the earlier answer is wrong now"));
  await other.fill("3");
  await other.press("Enter");
  await until("the question", async () => /Table 3\?/.test(await text(rows.nth(1).locator(".doubt"))));
  await other.press("Enter");
  await until("the third table", async () => /board-2 at table 3/.test(await text(boards.locator(".sheet-foot .answer"))));
  await eventually(async () => assert.equal(await boards.locator(".numbering .answer").isVisible(), false, "its answer is wrong now"));
  await boards.locator(".sheet-foot .undo").click();
  await until("table 2 again", async () => (await other.inputValue()) === "2");
}

/** A clock that shows another time than that of the pairing file is reported; a corrected file shows what it changes. */
async function comparesClocks() {
  const boards = step("Boards");
  const wrong = () => text(boards.locator(".wrong"));
  await until("the clocks contradict", async () => /Table 1 \(board-1\) shows 1:30:00, the time control is 15\+10/.test(await wrong()));
  await page.locator(".back-to").click();
  const task = page.locator(".lines li.advice", { hasText: "Clock set to another time" }).filter({ hasText: "Table 1" });
  await until("it is a task", () => task.isVisible());
  await eventually(async () => assert.equal(await text(page.locator(".before")), "Before the round: the boards are not in order."));
  // The opened board shows the text of the task, and the players of the pairing.
  await task.locator("a.line").click();
  await until("the reason", async () => /The clock shows 1:30:00, the time control is 15\+10/.test(await text(page.locator(".remarks li.advice"))));
  await until("the players", async () => /Adler, Jonas – Berg, Ines/.test(await text(page.locator(".opened .names"))));
  await assertUsable("a board with a remark");
  await page.locator(".to-setup").click();
  const answer = page.locator(".asked");
  await drop("round 3.csv", CORRECTED);
  await until("what changes", async () => /table 2: Young, Kim for Dorn, Uta/.test(await text(answer.locator(".changes"))));
  const changes = await text(answer.locator(".changes"));
  assert.match(changes, /table 1: colours exchanged, Berg, Ines has White against Adler, Jonas/);
  assert.match(changes, /the time control is 90\+30, not 15\+10/);
  await assertUsable("changes");
  await answer.locator(".main").click();
  await until("the new pairings", async () => /Berg, Ines – Adler, Jonas/.test(await text(page.locator(".pairs"))));
  await until("the clocks fit", async () => !/shows/.test(await wrong()));
  await eventually(async () => assert.match(await text(boards.locator(".sheet tbody tr").first().locator(".of-clock")), /1:30:00.*90\+30/));
}

/** Squares that changed are ticked, however quick the change was. The others are listed as possibly dead. */
async function testsSquares() {
  const squares = step("Every square");
  const state = (square) => squares.locator(".square", { hasText: square }).getAttribute("data-state");
  await step("Boards").locator(".sheet tbody tr").first().locator(".count").click();
  await eventually(async () => assert.equal(await squares.locator("select").inputValue(), "board-1"));
  await eventually(async () => assert.deepEqual(await squares.locator("option").allTextContents(), ["Table 1 (board-1)", "Table 2 (board-2)"]));
  for (const square of ["e2", "d7"]) await until(`${square} was seen`, async () => (await state(square)) === "seen");
  await eventually(async () => assert.equal(await state("a1"), "open"));
  await squares.getByRole("button", { name: "I have tried every square" }).click();
  await eventually(async () => assert.match(await text(squares.locator(".wrong")), /Table 1 \(board-1\): \d+ of 64, Table 2 \(board-2\): 0 of 64/));
  await until("a1 may be dead", async () => (await state("a1")) === "dead");
  await eventually(async () => assert.match(await text(squares.locator(".dead")), /Perhaps dead: .*a1/));
  await page.reload();
  await until("it is remembered", async () => (await state("e2")) === "seen");
  await anotherArbiterSeesTheSame();
  // The tests also survive a restart of kiebitz.
  viewer.ignoreNetworkErrors(true);
  fs.writeFileSync(path.join(folder, "restart"), "");
  await until("the connection is lost", async () => /Not up to date/.test(await text(page.locator("#state"))));
  await until("it is back", async () => (await text(page.locator("#state"))) === "");
  viewer.ignoreNetworkErrors(false);
  await until("both boards are back", async () => (await step("Boards").locator(".sheet .chip.advice").count()) === 0);
  await eventually(async () => assert.equal(await state("e2"), "seen"));
  await squares.getByRole("button", { name: "Begin again" }).click();
  await until("a new test", async () => (await state("e2")) !== "seen");
  await until("e2 was seen again", async () => (await state("e2")) === "seen");
}

/** A new browser shows the same tests. */
async function anotherArbiterSeesTheSame() {
  const context = await browser(fs.mkdtempSync(path.join(os.tmpdir(), "setup-other-")));
  try {
    const other = await Viewer.open(context, address, 1280, false);
    other.ignoreNetworkErrors(true);
    await until("the form", () => other.page.locator(".login").isVisible());
    await other.page.locator("[name=user]").fill(user);
    await other.page.locator("[name=password]").fill(password);
    await other.page.locator(".login button").click();
    await until("the desk", () => other.page.locator(".to-setup").isVisible());
    await other.go("#/setup");
    // The first view includes squares that were tested before this browser connected.
    const cell = other.page.locator(".square", { hasText: "e2" });
    await until("the squares", () => cell.isVisible());
    await eventually(async () => assert.equal(await cell.getAttribute("data-state"), "seen"));
    await other.close();
  } finally {
    await context.close();
  }
}

async function setsClockSides() {
  const boards = step("Boards");
  const rows = boards.locator(".sheet tbody tr");
  await until("the levers", async () => /lever up on the (left|right)/.test(await text(rows.first())));
  // One press for all clocks, then another side for one of them.
  const siding = boards.locator(".siding");
  const all = siding.getByRole("button", { name: "Set it on 2 clocks" });
  await eventually(async () => assert.ok(await all.isDisabled(), "no side is chosen beforehand"));
  await siding.locator("select").selectOption("right");
  await all.click();
  for (const at of [0, 1]) await until("the side", async () => (await rows.nth(at).locator("select").inputValue()) === "right");
  await eventually(async () => assert.match(await text(siding.locator(".answer")), /White is on the right of 2 clocks/));
  await until("nothing is unknown", async () => !(await all.isVisible()));
  // It was the wrong side, which can be set again at once.
  await siding.getByRole("button", { name: "Set the left instead" }).click();
  for (const at of [0, 1]) await until("the other side", async () => (await rows.nth(at).locator("select").inputValue()) === "left");
  await eventually(async () => assert.match(await text(siding.locator(".answer")), /White is on the left of 2 clocks/));
  for (const [at, name] of ["board-1", "board-2"].entries()) {
    await rows.nth(at).locator("select").selectOption("right");
    await until(`${name} is so`, async () => new RegExp(`${name}: Done: White is on the right of the clock`).test(await text(boards.locator(".sheet-foot .answer"))));
  }
  await until("what was checked", async () => /clocks set as in the time control: 2/.test(await text(boards.locator("summary"))));
}

async function testsOutputs() {
  const outputs = step("Outputs");
  await until("the journal works", async () => /Journal.*in order/.test(await text(outputs)));
  // The folder of the broadcast can be tested repeatedly.
  await outputs.getByRole("button", { name: /^Test: .*live$/ }).click();
  await until("it is tested", async () => /Tested at .*It works: a file was written/.test(await text(outputs)));
  await eventually(async () => assert.match(await text(page.locator("#said")), /live: It works/));
  await eventually(async () => assert.match(await page.evaluate(() => document.activeElement.getAttribute("aria-label") ?? ""), /^Test: /, "the focus stays"));
  await eventually(async () => assert.equal(await outputs.getByRole("button", { name: /^Test: Journal/ }).count(), 0));
}

/** Starts the round. The overview shows the names before the game, and then its first move. */
async function startsRound() {
  const go = step("Start");
  await eventually(async () => assert.match(await text(go), /The round can begin\. Not in order:Every square: boards with untested squares: 2/));
  // The form of the bar says the same.
  await page.locator(".begin-round").click();
  const dialog = page.locator("dialog[open]");
  await until("what is not in order", async () => /Every square: boards with untested squares: 2/.test(await text(dialog)));
  await eventually(async () => assert.doesNotMatch(await text(dialog), /not checked/));
  await assertUsable("the form");
  await dialog.getByRole("link", { name: /^Every square/ }).click();
  await until("the squares", () => step("Every square").evaluate((one) => one.contains(document.activeElement)));
  await eventually(async () => assert.equal(await dialog.count(), 0));
  // The question is in view although the button is at the lower edge of the window.
  const begin = go.getByRole("button", { name: "Begin round 3" });
  await begin.evaluate((one) => scrollBy(0, one.getBoundingClientRect().bottom - innerHeight));
  await begin.click();
  await eventually(async () => assert.ok((await go.locator(".question").boundingBox()).y + (await go.locator(".question").boundingBox()).height <= 800));
  await go.locator(".question").getByRole("button", { name: "No" }).click();
  await confirm(begin);
  await until("it has begun", async () => /Round 3 began at \d\d:\d\d\. Enter its results/.test(await text(go.locator(".begun"))));
  await eventually(async () => assert.equal(await go.getByRole("button", { name: "Begin round 3" }).isVisible(), false, "it has begun already"));
  await eventually(async () => assert.equal(await go.getByText("Boards that wait").isVisible(), false));
  await assertUsable("the set-up");
  fs.writeFileSync(path.join(folder, "play"), "");
  await page.locator(".back-to").click();
  const seat = page.locator(".seat", { hasText: "Berg, Ines" });
  await until("the names in the room", () => seat.isVisible());
  await eventually(async () => assert.equal(await page.locator(".before").isVisible(), false, "the round has begun"));
  await until("a move", async () => /^1\d?\.+ ?[a-zO]/.test(await text(seat.locator(".last"))));
}

/** Checks the page in German, in other window widths and colour schemes. */
async function checksOtherViews(context) {
  for (const [width, dark] of [[320, true], [390, false], [2560, true]]) {
    const other = await Viewer.open(context, `${address}?lang=de#/setup`, width, dark);
    await until("Aufbau", async () => /Bretter/.test(await other.page.locator(".setup h3").first().textContent()));
    await until("all is there", async () => (await other.page.locator(".sheet tbody tr").count()) === 2);
    await eventually(async () => assert.equal(await other.isTooWide(), false, `${width} is too wide`));
    await eventually(async () => assert.deepEqual(await other.barriers(), [], `at ${width}`));
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
  viewer.ignoreNetworkErrors(true);
  await logsIn();
  await helpsFirstOperator();
  await formatsTimeControls();
  await uploadsPairings();
  await findsBoards();
  await comparesClocks();
  await testsSquares();
  await setsClockSides();
  await testsOutputs();
  await checksOtherViews(context);
  await startsRound();
  await viewer.close();
} catch (error) {
  console.error(error);
  process.exitCode = 1;
} finally {
  await context.close();
  process.exit();
}
