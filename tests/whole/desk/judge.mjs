// An arbiter uses the desk in chromium, while a second arbiter watches: the arbiter judges an illegal move, corrects a
// move by dragging, undoes the correction, and enters players, a result and a note.
//
//   node judge.mjs ADDRESS USER PASSWORD [PROFILE]
//
// When the script prints "wait", the caller must make the players wait, as they do when an arbiter comes to the board.
// When it prints "restart", the caller must kill kiebitz and start it again. The desk at ADDRESS must get an open
// illegal move in a game of at least two moves. Needs line.mjs, viewer.mjs, playwright-core and axe-core in the same
// folder: see npm.rs.

import assert from "node:assert/strict";
import fs from "node:fs";
import os from "node:os";
import path from "node:path";
import { startProxy } from "./line.mjs";
import { Viewer, browser, eventually, until } from "./viewer.mjs";

const [address, user, password, profile = fs.mkdtempSync(path.join(os.tmpdir(), "desk-"))] = process.argv.slice(2);
const LONGEST = 900_000;
const ILLEGAL = ".needs li.violation .line";

/** An arbiter with a page of the desk. */
class Arbiter {
  /** Opens the desk in a window of this width. `search` is appended to the desk's address `at`. */
  static async open(context, search, width, dark, at = address) {
    const arbiter = new Arbiter();
    arbiter.viewer = await Viewer.open(context, at + search, width, dark);
    arbiter.page = arbiter.viewer.page;
    return arbiter;
  }

  async logIn(name, secret) {
    await this.page.locator("[name=user]").fill(name);
    await this.page.locator("[name=password]").fill(secret);
    await this.page.locator(".login button").click();
  }

  text(selector) {
    return this.page.locator(selector).first().textContent();
  }

  /** The moves in the notation of the page. */
  moves() {
    const read = (all) => all.map((move) => move.querySelector("b").firstChild.textContent);
    return this.page.locator(".opened .move").evaluateAll(read);
  }

  /** Unfolds a part of the page if necessary, presses a button in it, and confirms. */
  async press(part, label) {
    const fold = this.page.locator(".opened .fold", { has: this.page.locator("summary", { hasText: part }) });
    if ((await fold.getAttribute("open")) === null) await fold.locator("summary").click();
    await this.confirm(fold.getByRole("button", { name: label, exact: true }));
  }

  /** Presses a button, and confirms if the page asks. */
  async confirm(button) {
    await button.click();
    const yes = this.page.locator(".question:not([hidden]) .main");
    if (!(await yes.isVisible())) return;
    // The page ignores a confirmation that comes too quickly.
    await this.page.waitForTimeout(400);
    await yes.click();
  }

  /** Waits until the page shows that a command was accepted. */
  async answered() {
    await until("an answer", async () => (await this.page.locator(".deed .answer.good").count()) > 0);
  }

  /** Drags a piece on the diagram with the mouse. */
  async drag(from, to) {
    const box = await this.page.locator(".frame.edited cg-board").boundingBox();
    const turned = await this.page.locator(".stage.turned").count();
    const at = (square) => {
      let [file, rank] = [square.charCodeAt(0) - 97, Number(square[1]) - 1];
      if (turned) [file, rank] = [7 - file, 7 - rank];
      return [box.x + ((file + 0.5) * box.width) / 8, box.y + ((7 - rank + 0.5) * box.height) / 8];
    };
    await this.page.mouse.move(...at(from));
    await this.page.mouse.down();
    await this.page.mouse.move(...at(to), { steps: 6 });
    await this.page.mouse.up();
  }

  async assertUsable(what) {
    await eventually(async () => assert.equal(await this.viewer.isTooWide(), false, `${what} is too wide`));
    await eventually(async () => assert.deepEqual(await this.viewer.barriers(), [], what));
  }
}

/** A wrong password is refused, and the right one opens the desk. */
async function logsIn(arbiter) {
  const { page, viewer } = arbiter;
  await until("the form", () => page.locator(".login").isVisible());
  await arbiter.assertUsable("the form");
  await arbiter.logIn(user, `${password} not`);
  await until("it says no", async () => /wrong/.test(await arbiter.text(".login .answer")));
  await eventually(async () => assert.equal(await page.locator(".seat").count(), 0, "nothing is shown"));
  await arbiter.logIn(user, password);
  await until("the room", async () => (await page.locator(".seat").count()) > 0);
  // Until the login the browser logs refused requests as errors.
  viewer.ignoreNetworkErrors(false);
}

/** Opens the illegal move with the keyboard alone. */
async function findsIllegalMove(arbiter) {
  const { page } = arbiter;
  await until("an illegal move", () => page.locator(ILLEGAL).first().isVisible());
  const line = page.locator(ILLEGAL, { hasText: "Illegal move" }).first();
  const href = await line.getAttribute("href");
  await page.locator("#needed").focus();
  for (let pressed = 0; pressed < 20; pressed += 1) {
    await page.keyboard.press("j");
    if ((await page.evaluate(() => document.activeElement.getAttribute("href"))) === href) break;
  }
  await page.keyboard.press("Enter");
  await until("it is opened", () => page.locator(".case.violation h3", { hasText: "Illegal move" }).isVisible());
  return href;
}

/** Every page shows who is on the way, also after a reload, until it is taken back. */
async function goes(arbiter, second) {
  const row = (one) => one.page.locator(".needs > .lines > li.violation", { hasText: "Illegal move" }).first();
  const who = (one) => row(one).locator(".going .who");
  const button = (one) => row(one).locator(".going .go");
  const says = (one, wanted) => until(`${wanted}`, async () => wanted.test(await who(one).textContent()));
  for (const one of [arbiter, second]) await says(one, /^$/);
  await button(arbiter).click();
  for (const one of [second, arbiter]) await says(one, /^On the way: You · /);
  await arbiter.assertUsable("somebody is on the way");
  // The second page belongs to the same user, who may take it back there.
  await button(second).click();
  for (const one of [arbiter, second]) await says(one, /^$/);
  await button(arbiter).click();
  await says(second, /You/);
  await second.page.reload();
  await says(second, /^On the way: You · /);
  const other = await arbiter.page.evaluate(async () => {
    const { Going } = await import("/desk/going.js");
    const going = new Going(() => {}, "ott");
    going.update({ key: "a", board: "board-1", going: [{ by: "<b>meier</b>", at: new Date().toISOString(), incident: 1 }] });
    return [going.who.textContent, going.button.textContent];
  });
  assert.match(other[0], /^On the way: <b>meier<\/b> · \d+ s$/, "others see the name");
  assert.equal(other[1], "I'm going");
}

const CLOCK = { white_ms: 60000, black_ms: 60000, running: null, as_of: null };
const START = "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR";
const SINCE = "2026-11-21T09:48:00.000000Z";

/** A board's status for the modules of the page, in a game after 1. e4. */
function boardOf(changes = {}) {
  const game = { game: "g", moves: [{ ply: 1, color: "white", uci: "e2e4", san: "e4", legal: true, inferred: false, settled: "press" }] };
  Object.assign(game, { started: SINCE, ended: null, result: "*", reason: null, confirmed: false, start_fen: `${START} w KQkq - 0 1` });
  const status = { board: "board-1", table: 1, connected: true, gone_since: null, away: null, placement: START, game_placement: START };
  Object.assign(status, { differs: [], differs_since: null, clock: CLOCK, made: [SINCE], incidents: [], past: [], going: [], port: "a" });
  return { ...status, game: { ...game, ...changes.game }, ...changes.status };
}

/** An open incident. `values` are those of its evidence. */
function incidentOf(incident, kind, severity, since, values = {}) {
  const evidence = { from: since, to: since, fen: `${START} w KQkq - 0 1`, values };
  return { incident, kind, severity, since, color: "white", squares: [], advice: "Stop the clocks.", evidence };
}

/** The sentence under the diagram is true in every state. */
async function describesEveryState({ page }) {
  const illegal = { ply: 1, color: "white", uci: "e2e5", san: null, legal: false, inferred: false, settled: null };
  const other = "8/8/8/8/8/8/8/K1k5";
  const open = (kind, severity = "advice") => ({ incidents: [incidentOf(1, kind, severity, SINCE)] });
  const moved = (differs) => ({ placement: other, differs, differs_since: "2020-01-01T00:00:00Z" });
  const cases = [
    [{}, /^The board shows what the game expects\.$/],
    [{ status: { away: "pi", connected: false } }, /^No contact/],
    [{ status: { connected: false } }, /^The board does not answer/],
    [{ status: { connected: false, gone_since: SINCE, ...open("board_disconnected") } }, /^The board has not answered since .*showed\.$/],
    [{ status: { game: null, game_placement: null } }, /^No game yet\.$/],
    [{ status: { game: null } }, /^No game yet\. The pieces are set up\.$/],
    [{ status: { game: null, ...moved(["e2"]) } }, /^No game yet\. Not as set up: e2\.$/],
    [{ game: { ended: SINCE, result: "1-0" } }, /^The game is over: 1–0, not confirmed\.$/],
    [{ game: { ended: SINCE, result: "1-0", confirmed: true } }, /^The game is over: 1–0\.$/],
    [{ status: { game_placement: null } }, /its position is not known/],
    [{ status: moved(["e2", "e4"]) }, /^Board and game differ: e2, e4\.$/],
    [{ status: { ...moved(["e2"]), differs_since: new Date().toISOString() } }, /^A piece is being moved: e2\.$/],
    [{ status: moved(["a1", "a2", "a3", "a4", "a5", "a6", "a7"]) }, /^Board and game differ on 7 squares\.$/],
    [{ status: { ...open("illegal_move", "violation"), placement: other, game_placement: other }, game: { moves: [illegal] } }, /^An illegal move stands on the board: 1\. e2e5\.$/],
    [{ status: open("illegal_move", "violation") }, /^The last legal position is on the board again\. Open: Illegal move · White\.$/],
    [{ status: open("draw_claimed") }, /^The board shows the recorded position\. Open: Claim of a draw · White\.$/],
    [{ status: open("promotion_not_replaced") }, /^A pawn stands on the last rank\.$/],
    [{ status: open("illegal_position") }, /^The position on the board is not legal\.$/],
    [{ status: open("record_uncertain", "hint") }, /moves are missing or uncertain\.$/],
    [{ status: open("flag_fall", "info") }, /^The board shows what the game expects\.$/],
  ];
  const told = await page.evaluate(async (all) => {
    const { standing } = await import("/desk/standing.js");
    return all.map(standing);
  }, cases.map(([changes]) => boardOf(changes)));
  told.forEach((text, at) => assert.match(text, cases[at][1], JSON.stringify(cases[at][0])));
}

/** Boards that are lost together are one line; the offence that ends the game comes first and says so; ages count from the event. */
async function groupsAndSorts({ page }) {
  const at = (seconds) => new Date(Date.parse(SINCE) + seconds * 1000).toISOString();
  const lost = (nth, seconds, port) => {
    const incidents = [incidentOf(nth, "board_disconnected", "advice", at(seconds))];
    return boardOf({ status: { board: `board-${nth}`, table: nth, connected: false, incidents, port } });
  };
  const offence = (nth, seconds, values) => {
    const incidents = [incidentOf(nth, "illegal_move", "violation", at(seconds), values)];
    return boardOf({ status: { board: `board-${nth}`, table: nth, incidents } });
  };
  const twelve = Array.from({ length: 12 }, (_, nth) => lost(12 - nth, nth, `port-${nth}`));
  const boards = [...twelve, lost(20, 300, "a"), lost(21, 305, "a"), offence(30, 0, { offence: 1, penalty: "minutes" })];
  boards.push(offence(31, 100, { offence: 2, penalty: "lost", mate: "can" }), offence(32, 50, { offence: 2, penalty: "lost", mate: "cannot" }));
  // A line that only the page knows has the age of the event too.
  boards.push(boardOf({ status: { board: "board-40", table: 40 }, game: { ended: at(30), result: "1-0", reason: "kings" } }));
  boards.push(boardOf({ status: { board: "board-41", table: 41, connected: false, gone_since: at(600) } }));
  // Several games of the players' own after that of the round: only the question about the last one is listed.
  const again = [1, 2, 3].map((nth) => ({ ...incidentOf(42, "second_game", "hint", at(700 + nth)), incident: nth }));
  boards.push(boardOf({ status: { board: "board-42", table: 42, incidents: again } }));
  const found = await page.evaluate(async (all) => {
    const [{ Memory, lines }, { place, titleOf }] = await Promise.all([import("/desk/lines.js"), import("/desk/words.js")]);
    const shown = lines(all, new Memory(), Date.parse("2026-11-21T10:00:00Z"));
    return shown.map((line) => [place(line), titleOf(line), line.members?.map(({ table }) => table), line.since]);
  }, boards);
  assert.deepEqual(found.map(([where]) => where), ["Table 32", "Table 31", "Table 30", "12 boards", "Table 20", "Table 21", "Table 41", "Table 40", "Table 42"]);
  assert.deepEqual(found.slice(-3).map(([, , , since]) => since), [at(600), at(30), at(703)].map(Date.parse));
  assert.deepEqual(found.slice(0, 3).map(([, title]) => title), [
    "Illegal move · White · second offence: the game is drawn",
    "Illegal move · White · second offence: the game is lost",
    "Illegal move · White",
  ]);
  assert.match(found[3][1], /^Board disconnected at \d\d:48$/);
  assert.deepEqual(found[3].slice(2), [[1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12], Date.parse(SINCE)]);
}

/** A line to which somebody goes comes after the others of its severity, and ten lines fit into a small window. */
async function showsTenLines(context) {
  const arbiter = await Arbiter.open(context, "", 1366, false);
  const { page } = arbiter;
  await page.setViewportSize({ width: 1366, height: 768 });
  await until("the desk", () => page.locator(".needs").isVisible());
  const at = (seconds) => new Date(Date.parse(SINCE) + seconds * 1000).toISOString();
  const boards = Array.from({ length: 10 }, (_, index) => {
    const nth = index + 1;
    const severity = nth > 8 ? "advice" : "violation";
    const incidents = [incidentOf(nth, "illegal_move", severity, at(nth), { offence: 1, penalty: "minutes" })];
    const going = [1, 2, 9].includes(nth) ? [{ by: nth === 2 ? user : "ott", at: SINCE, incident: nth }] : [];
    return boardOf({ status: { board: `board-${nth}`, table: nth, incidents, going } });
  });
  const places = await page.evaluate(
    async ([all, name]) => {
      const [{ Memory, lines }, { List }] = await Promise.all([import("/desk/lines.js"), import("/desk/list.js")]);
      const memory = new Memory();
      const list = new List(memory, { see: () => {}, check: () => {}, attend: () => {}, user: name });
      document.querySelector(".needs").replaceWith(list.element);
      list.update(lines(all, memory, Date.parse("2026-11-21T10:00:00Z")), () => false);
      return [...list.element.querySelectorAll(".place")].map((one) => one.textContent);
    },
    [boards, user],
  );
  assert.deepEqual(places, [3, 4, 5, 6, 7, 8, 1, 2, 10, 9].map((nth) => `Table ${nth}`));
  const ends = await page.locator(".needs .lines > li").evaluateAll((all) => all.map((one) => one.getBoundingClientRect().bottom));
  assert.equal(ends.length, 10);
  assert.ok(Math.max(...ends) <= 768, `the last line ends at ${Math.max(...ends)}`);
  await arbiter.assertUsable("ten lines");
  await arbiter.viewer.close();
}

/** Checks that the page shows the article, the advice, the positions and the reports of the squares. */
async function seesEvidence(arbiter) {
  const { page } = arbiter;
  await eventually(async () => assert.match(await arbiter.text(".case .article"), /Art\. .*\d.*\(FIDE \d{4}\)/));
  await eventually(async () => assert.ok((await arbiter.text(".case .advice")).length > 40, "the advice"));
  const caption = () => arbiter.text(".diagram .caption");
  await page.locator(".views button").last().click();
  await eventually(async () => assert.match(await caption(), /Last legal position, (White|Black) to move/));
  const before = await page.locator(".diagram .spoken").textContent();
  await page.locator(".views button").first().click();
  await eventually(async () => assert.notEqual(await page.locator(".diagram .spoken").textContent(), before, "before and after"));
  await eventually(async () => assert.ok((await page.locator("cg-board square.concerned").count()) > 0, "its squares are marked"));
  const advised = page.locator(".case .advised li");
  await eventually(async () => assert.ok((await advised.count()) > 1, "the advice has steps"));
  await eventually(async () => assert.doesNotMatch(await arbiter.text(".diagram .caption"), /what the game expects/, "an incident is open"));
  await until("the clock's times run in the same panel", async () => /^\d+:\d\d/.test(await arbiter.text(".case .set .live .clock")));
  await eventually(async () => assert.match(await arbiter.text(".case .set td.to-set"), /^\d+:\d\d(:\d\d)?$/));
  const moments = () => page.locator(".moments button").count();
  await eventually(async () => assert.ok((await moments()) > 0, "what the squares showed"));
  await page.locator(".opened h2").focus();
  await page.keyboard.press("ArrowRight");
  await until("the first moment", () => page.locator(".moments li:first-child .now").isVisible());
  const first = await caption();
  if ((await moments()) > 1) {
    await page.keyboard.press("ArrowRight");
    await until("the next", async () => (await caption()) !== first);
  }
}

/** Confirms that the position has been restored, and closes the incident with a decision. */
async function judges(arbiter, second) {
  const { page } = arbiter;
  await arbiter.confirm(page.getByRole("button", { name: "This position has been restored" }));
  await arbiter.answered();
  await page.locator(".case .fold", { hasText: /Settle|Decide again/ }).first().locator("summary").click();
  await page.locator(".case textarea").fill("Two minutes for the opponent.");
  await page.locator(".case").getByLabel("yes", { exact: true }).check();
  await page.getByRole("button", { name: "Enter the decision" }).click();
  await until("it is over", () => page.locator(".case .over").isVisible());
  await until("with the decision", async () => (await arbiter.text(".case .over")).includes("Two minutes"));
  await eventually(async () => assert.match(await arbiter.text(".case .over"), new RegExp(`^Closed at \\d\\d:\\d\\d:\\d\\d: .*${user}`), "with author and time"));
  await until("it is off the other list", async () => {
    const lines = await second.page.locator(`${ILLEGAL}`).evaluateAll((all) => all.map((one) => one.getAttribute("href")));
    const opened = await page.evaluate(() => location.hash);
    return !lines.includes(opened);
  });
}

/** The same daemon gives advice in German to a page in German. */
async function readsGermanAdvice(context, { page }) {
  const other = await Arbiter.open(context, `?lang=de${await page.evaluate(() => location.hash)}`, 1280, false);
  await until("the advice", async () => /^Regelwidriger Zug/.test(await other.text(".case .advice")));
  await eventually(async () => assert.match(await other.text(`${ILLEGAL} `), /Regelwidriger Zug von/, "and in the list"));
  await eventually(async () => assert.match(await page.locator(".case .advice").textContent(), /^Illegal move/));
  await other.viewer.close();
}

/** Corrects a move by dragging a piece, and undoes the correction. The second arbiter sees both. */
async function correctsByDragging(arbiter, second) {
  const { page } = arbiter;
  const before = await arbiter.moves();
  // No further moves are played while the arbiter is at the board.
  assert.ok(before.length >= 1, "there are moves");
  await second.page.evaluate((hash) => {
    location.hash = hash;
  }, await page.evaluate(() => location.hash.replace(/\/incident.*/, "")));
  await until("the second arbiter looks on", async () => (await second.moves()).join() === before.join());
  await page.locator(".opened .move").first().click();
  await eventually(async () => assert.match(await arbiter.text(".opened .move .times"), /\d\d:\d\d:\d\d$/, "each move has its time of day"));
  await eventually(async () => assert.equal(await page.locator("summary", { hasText: /^Players$/ }).count(), 1, "who may not move boards reads of no table"));
  await arbiter.press("Position", "Correct moves");
  await until("the diagram is free", () => page.locator(".frame.edited piece").first().isVisible());
  // Replaces the first move by d3, and removes the later ones, which may not be legal any more.
  await page.locator(".correct select").selectOption("1");
  await arbiter.drag("d2", "d3");
  await until("it is entered", async () => (await arbiter.text(".correct .entered")).includes("d2d3"));
  const keep = page.locator(".correct .keep input");
  if (await keep.isVisible()) await keep.uncheck();
  await arbiter.assertUsable("a correction");
  await arbiter.confirm(page.getByRole("button", { name: "Enter these moves" }));
  const isD3 = async (one) => (await one.moves())[0] === "d3";
  await until("the move is another", () => isD3(arbiter));
  await until("for the second arbiter too", () => isD3(second));
  await page.locator(".versions-of .undo").last().click();
  const isUndone = async (one) => (await one.moves()).slice(0, before.length).join() === before.join();
  await until("it is undone", () => isUndone(arbiter));
  const history = () => second.page.locator(".versions-of .versions").first().innerText();
  await until("who did what", async () => new RegExp(`${user}\\s*Moves corrected: 1\\. d2d3`).test(await history()));
  await until("for both", () => isUndone(second));
}

/** Enters the players with FIDE id, title and rating, corrects a name, and swaps the names. */
async function namesPlayers(arbiter, second) {
  const { page } = arbiter;
  const fold = page.locator(".fold", { has: page.locator("summary", { hasText: /^Players$/ }) });
  await fold.locator("summary").click();
  const side = (at) => fold.locator("fieldset.player").nth(at);
  const box = (at, label) => side(at).getByLabel(label, { exact: true });
  const enter = () => arbiter.confirm(fold.getByRole("button", { name: "Enter the players", exact: true }));
  const names = (one) => one.text(".opened .names");
  for (const [label, value] of [["Name", "Adler, Jonas"], ["FIDE id", "4600001"], ["Title", "FM"], ["Rating", "2301"]]) {
    await box(0, label).fill(value);
  }
  await box(1, "Name").fill("Becker, Anna");
  await fold.getByLabel("Round of the game").fill("3");
  await fold.getByLabel("Table of the game").fill("1");
  await enter();
  await until("the names", async () => (await names(second)) === "Adler, Jonas – Becker, Anna");
  await box(0, "Name").fill("Adler, Jonas-Paul");
  await enter();
  await until("a corrected name", async () => (await names(second)) === "Adler, Jonas-Paul – Becker, Anna");
  await arbiter.assertUsable("the players");
  await fold.getByRole("button", { name: "Swap colours" }).click();
  await page.waitForTimeout(400);
  await fold.getByRole("button", { name: "The names were swapped" }).click();
  await until("the other way round", async () => (await names(second)) === "Becker, Anna – Adler, Jonas-Paul");
  await until("all that is known of them goes with them", async () => {
    await page.evaluate(() => document.activeElement.blur());
    const values = ["FIDE id", "Title", "Rating"].map((label) => box(1, label).inputValue());
    return (await Promise.all(values)).join() === "4600001,FM,2301";
  });
  await eventually(async () => assert.equal(await page.locator(".needs", { hasText: "Colours reversed" }).count(), 0, "nobody is accused"));
  await eventually(async () => assert.equal(await page.locator(".others", { hasText: "Colours reversed" }).count(), 0, "nobody is accused"));
  await fold.locator("summary").click();
}

/** Enters a result and withdraws it, and enters a note. The second arbiter sees them. */
async function entersAndUndoes(arbiter, second) {
  const { page } = arbiter;
  await arbiter.press("Result", "Enter the result");
  await until("it has ended", async () => /Result 1–0/.test(await second.text(".versions-of")));
  await arbiter.press("Result", "The game goes on");
  await until("it goes on", async () => !/Result 1–0/.test(await second.text(".versions-of .versions")));
  const note = page.locator(".entries .fold", { has: page.locator("summary", { hasText: /^Note$/ }) });
  await note.locator("summary").click();
  await note.locator("textarea").fill("<b>Both</b> were told.");
  await note.getByRole("button", { name: "Save the note" }).click();
  await until("both see the note", async () => (await second.text(".versions-of")).includes("<b>Both</b> were told."));
  await until("it is said aloud", async () => (await arbiter.text("#said")).startsWith("Save the note. Done"));
}

/** Checks other languages, window widths and colour schemes. */
async function checksOtherViews(context) {
  for (const [search, width, dark, words] of [
    ["?lang=de", 320, true, "Zu tun"],
    ["?lang=de", 390, false, "Turniersaal"],
    ["?lang=en", 1280, true, "Needs attention"],
  ]) {
    const arbiter = await Arbiter.open(context, search, width, dark);
    const { page } = arbiter;
    await until(search, async () => (await page.locator(".seat").count()) > 0);
    await eventually(async () => assert.ok((await arbiter.text("body")).includes(words), words));
    await arbiter.assertUsable(`${search} at ${width}`);
    await page.locator(".seat .open").first().click();
    await until("a board", () => page.locator(".opened piece").first().isVisible());
    await arbiter.assertUsable(`a board, ${search} at ${width}`);
    await page.keyboard.press("Escape");
    await until("the list again", () => page.locator(".needs h2").isVisible());
    await arbiter.viewer.close();
  }
}

/** The page reports a lost connection, and reconnects by itself. */
async function reportsStaleData(context) {
  const proxy = await startProxy(new URL(address).port);
  const { viewer, page } = await Arbiter.open(context, "", 390, false, proxy.address);
  const state = page.locator("#state");
  await until("the room", async () => (await page.locator(".seat").count()) > 0);
  viewer.ignoreNetworkErrors(true);
  await context.setOffline(true);
  proxy.cut();
  await until("it says that it is stale", async () => /Not up to date since \d/.test(await state.textContent()));
  await context.setOffline(false);
  await until("it is back", async () => (await state.textContent()) === "");
  viewer.ignoreNetworkErrors(false);
  await viewer.close();
  proxy.close();
}

/** After kiebitz has been killed and restarted, users are still logged in, and no decision is lost. */
async function survivesRestart(arbiter, second) {
  const { page } = arbiter;
  const isStale = (one) => one.page.evaluate(() => document.body.classList.contains("stale"));
  await page.evaluate(() => {
    location.hash = location.hash.replace(/\/incident.*/, "");
  });
  const before = await arbiter.moves();
  const board = decodeURIComponent(await page.evaluate(() => location.hash.split("/")[2]));
  await page.evaluate(async (name) => {
    const headers = { "Kiebitz-Desk": "1", "Content-Type": "application/json" };
    const body = JSON.stringify({ board: name, command: { id: "on-my-way", do: "attend" } });
    const answer = await (await fetch("/command", { method: "POST", headers, body })).json();
    if (!answer.ok) throw new Error(answer.error);
  }, board);
  console.log("restart");
  for (const one of [arbiter, second]) await until("the connection is lost", () => isStale(one));
  for (const one of [arbiter, second]) await until("it is back", async () => !(await isStale(one)));
  await eventually(async () => assert.equal(await page.locator(".login").count(), 0, "still logged in"));
  await until("the game again", async () => (await arbiter.moves()).slice(0, before.length).join() === before.join());
  await until("the note again", async () => (await arbiter.text(".versions-of")).includes("<b>Both</b> were told."));
  const going = await page.evaluate(async (name) => {
    const stream = new EventSource("/stream");
    const all = await new Promise((done) => stream.addEventListener("all", ({ data }) => done(JSON.parse(data))));
    stream.close();
    return all.boards.find((one) => one.board === name).going;
  }, board);
  assert.deepEqual(going.map(({ by, incident }) => [by, incident]), [[user, null]], "who is on the way is still known");
  await second.page.reload();
  await until("for both", async () => (await second.moves()).slice(0, before.length).join() === before.join());
}

/** A note that is being typed outlasts a reload and the end of the session, but not the log-out. */
async function keepsDrafts(context, arbiter) {
  const { page } = arbiter;
  const note = page.locator(".entries .fold", { has: page.locator("summary", { hasText: /^Note$/ }) });
  if ((await note.getAttribute("open")) === null) await note.locator("summary").click();
  await note.locator("textarea").fill("Both players were");
  await page.reload();
  await until("the draft", () => note.locator("textarea").isVisible());
  await eventually(async () => assert.equal(await note.locator("textarea").inputValue(), "Both players were"));
  await context.clearCookies({ name: /^kiebitz-desk-/ });
  await page.reload();
  await until("the form", () => page.locator(".login").isVisible());
  await arbiter.logIn(user, password);
  await until("the draft again", () => note.locator("textarea").isVisible());
  await eventually(async () => assert.equal(await note.locator("textarea").inputValue(), "Both players were"));
  await note.getByRole("button", { name: "Save the note" }).click();
  await until("it is sent", async () => (await arbiter.text(".versions-of")).includes("Both players were"));
  await note.locator("textarea").fill("Both clocks");
  const drafts = () => page.evaluate(() => Object.values(sessionStorage));
  await eventually(async () => assert.deepEqual(await drafts(), ["Both clocks"]));
}

async function logsOut(arbiter) {
  const { page, viewer } = arbiter;
  await page.keyboard.press("Escape");
  viewer.ignoreNetworkErrors(true);
  await page.getByRole("button", { name: "Log out" }).click();
  await until("the form", () => page.locator(".login").isVisible());
  await eventually(async () => assert.equal(await page.locator(".seat").count(), 0, "nothing is left"));
  await eventually(async () => assert.equal(await page.evaluate(() => sessionStorage.length), 0, "no drafts are left"));
}

setTimeout(() => {
  console.error("not in time");
  process.exit(1);
}, LONGEST);

const context = await browser(profile);
try {
  const arbiter = await Arbiter.open(context, "", 1280, false);
  arbiter.viewer.ignoreNetworkErrors(true);
  await logsIn(arbiter);
  const second = await Arbiter.open(context, "", 1280, true);
  await until("the second arbiter has the same list", () => second.page.locator(ILLEGAL).first().isVisible());
  console.log("wait");
  await goes(arbiter, second);
  await findsIllegalMove(arbiter);
  await arbiter.assertUsable("an illegal move");
  await seesEvidence(arbiter);
  await readsGermanAdvice(context, arbiter);
  await judges(arbiter, second);
  await correctsByDragging(arbiter, second);
  await namesPlayers(arbiter, second);
  await entersAndUndoes(arbiter, second);
  await describesEveryState(arbiter);
  await groupsAndSorts(arbiter);
  await showsTenLines(context);
  await checksOtherViews(context);
  for (const one of [arbiter, second]) one.viewer.ignoreNetworkErrors(true);
  await reportsStaleData(context);
  await survivesRestart(arbiter, second);
  await second.viewer.close();
  await keepsDrafts(context, arbiter);
  await logsOut(arbiter);
  await arbiter.viewer.close();
} catch (error) {
  console.error(error);
  process.exitCode = 1;
} finally {
  await context.close();
  process.exit();
}
