// A viewer reviews a past game at the desk in chromium: finds it, steps through its moves and sensor reports, sees how
// a move was inferred, downloads report, PGN and recording, and follows a game in progress.
//
//   node review.mjs ADDRESS USER PASSWORD PLAYER BOARD [PROFILE]
//
// The desk at ADDRESS must have one past game of PLAYER, with a recording. When the script prints "play", the caller
// must start a game on BOARD that ends in mate. Needs viewer.mjs, playwright-core and axe-core in the same folder: see
// npm.rs.

import assert from "node:assert/strict";
import fs from "node:fs";
import os from "node:os";
import path from "node:path";
import { Viewer, browser, eventually, until } from "./viewer.mjs";

const [address, user, password, player, board, profile = fs.mkdtempSync(path.join(os.tmpdir(), "desk-"))] = process.argv.slice(2);
const LONGEST = 900_000;

/** A window with the list of past games. */
class Reader {
  static async open(context, width, dark, search = "") {
    const reader = new Reader();
    reader.viewer = await Viewer.open(context, `${address}${search}#/games`, width, dark);
    reader.page = reader.viewer.page;
    return reader;
  }

  text(selector) {
    return this.page.locator(selector).first().textContent();
  }

  async assertUsable(what) {
    await eventually(async () => assert.equal(await this.viewer.isTooWide(), false, `${what} is too wide`));
    await eventually(async () => assert.deepEqual(await this.viewer.barriers(), [], what));
  }
}

async function logsIn({ page, viewer }) {
  viewer.ignoreNetworkErrors(true);
  await until("the form", () => page.locator(".login").isVisible());
  await page.locator("[name=user]").fill(user);
  await page.locator("[name=password]").fill(password);
  await page.locator(".login button").click();
  await until("the list", async () => (await page.locator(".past-game").count()) > 0);
  viewer.ignoreNetworkErrors(false);
}

/** Finds the game by the player's name, and opens it with the keyboard. */
async function findsGame(reader) {
  const { page } = reader;
  const all = await page.locator(".past-game").count();
  await page.locator("[name=text]").fill("nobody of that name");
  await until("none is found", async () => (await page.locator(".past-game").count()) === 0);
  await eventually(async () => assert.match(await reader.text(".games [role=status]"), /No games found/));
  await page.locator("[name=text]").fill(player);
  await until("it is found", async () => (await page.locator(".past-game").count()) === 1);
  assert.ok(all > 1, "of several");
  await reader.assertUsable("the list");
  await page.locator("#games").focus();
  await page.keyboard.press("ArrowDown");
  await page.keyboard.press("Enter");
  await until("it is opened", async () => (await page.locator(".reviewed .move").count()) > 0);
  await eventually(async () => assert.match(await reader.text(".reviewed h2"), new RegExp(player)));
}

/** Games without players are folded away below the others, unless nobody has players or they are searched for. */
async function foldsGamesWithoutPlayers({ page }) {
  const game = (id, white, changes = {}) => ({ game: id, board: "board-1", table: null, round: null, white, black: null, started: "2026-11-21T10:00:00Z", plies: 20, result: "1-0", reason: "kings", confirmed: true, violations: 0, advice: 0, hints: 0, ...changes });
  const named = [game("a", "Adler"), game("b", null), game("c", null, { reason: null, result: "*" }), game("d", null)];
  const seen = (games, text = "") =>
    page.evaluate(
      async ([all, search]) => {
        const { Games } = await import("/desk/games.js");
        const list = new Games(async () => ({ ok: true, answer: { games: all, more: null } }), null);
        list.text.value = search;
        await list.fetch(null);
        const ids = (of) => [...of.querySelectorAll("a")].map((one) => one.dataset.game).join("");
        const folds = [...list.list.querySelectorAll("details")];
        const shown = [...list.list.querySelectorAll(":scope > ol")].map(ids).join("");
        return [shown, folds.map((fold) => [fold.querySelector("summary").textContent, fold.open, ids(fold)])];
      },
      [games, text],
    );
  assert.deepEqual(await seen(named), ["ac", [["2 games without players", false, "bd"]]]);
  assert.deepEqual(await seen(named, "board-1"), ["abcd", []]);
  assert.deepEqual(await seen(named.slice(1)), ["bcd", []]);
}

/** Steps through the moves. The page announces each one to screen readers. */
async function stepsThrough(reader) {
  const { page } = reader;
  const caption = () => reader.text(".reviewed .diagram .caption");
  const spoken = () => reader.text("#said");
  const moves = await page.locator(".reviewed .move").count();
  await eventually(async () => assert.match(await caption(), /Start position/));
  await page.keyboard.press("ArrowRight");
  await until("the first move", async () => /After 1\. /.test(await caption()));
  await eventually(async () => assert.match(await spoken(), /After 1\. .* left/));
  await page.keyboard.press("End");
  const number = Math.ceil(moves / 2);
  await until("the last move", async () => new RegExp(`After ${number}\\.`).test(await caption()));
  await page.keyboard.press("Home");
  await until("the start", async () => /Start position/.test(await caption()));
}

/** Checks the explanation of the first move, and the sensor reports. */
async function explainsMove(reader) {
  const { page } = reader;
  await page.keyboard.press("ArrowRight");
  const weighed = page.locator(".weighed tbody tr");
  await until("what was weighed", async () => (await weighed.count()) > 0);
  await eventually(async () => assert.match(await weighed.first().textContent(), /published/));
  await eventually(async () => assert.equal(await weighed.first().locator("svg").count(), 1, "as a picture"));
  await eventually(async () => assert.ok((await page.locator("cg-board square.spoke").count()) >= 2, "its squares are framed"));
  await eventually(async () => assert.ok((await reader.text(".explained .ahead")).length > 10, "the margin"));
  const said = page.locator(".sensors .moment");
  await eventually(async () => assert.ok((await said.count()) >= 2, "lifted and set"));
  await eventually(async () => assert.match(await said.first().textContent(), /lifted/));
  const before = await reader.text(".reviewed .diagram .spoken");
  await page.keyboard.press("j");
  await until("the first moment", () => page.locator(".sensors li:first-child .moment.now").isVisible());
  await eventually(async () => assert.notEqual(await reader.text(".reviewed .diagram .spoken"), before, "the piece is in the hand"));
  await page.keyboard.press("k");
  await until("the moment before", async () => /Before the first move/.test(await reader.text(".sensors .small")));
  await page.keyboard.press("ArrowRight");
  await reader.assertUsable("the game");
}

/** Downloads PGN and recording, which are named after the game, and opens the report in a page of its own. */
async function downloads({ page }, context) {
  for (const [label, ending] of [["PGN", "pgn"], ["Recording (pcapng)", "pcapng"]]) {
    const [download] = await Promise.all([page.waitForEvent("download"), page.getByRole("link", { name: label }).click()]);
    assert.match(download.suggestedFilename(), new RegExp(`^\\d{4}-.*\\.${ending}$`));
    await eventually(async () => assert.ok(fs.statSync(await download.path()).size > 100, label));
  }
  const [report] = await Promise.all([context.waitForEvent("page"), page.getByRole("link", { name: "Report to print" }).click()]);
  await report.waitForLoadState();
  await eventually(async () => assert.match(await report.locator("body").textContent(), new RegExp(player)));
  const ground = await report.evaluate(() => [...document.styleSheets].reduce((rules, sheet) => rules + sheet.cssRules.length, 0));
  assert.ok(ground > 10, "with its style");
  await report.close();
}

/** A game appears in the list when it begins, and the page follows it to its end. */
async function followsGame(reader, context) {
  const { page } = reader;
  // Matches any number: without a file of event numbers, the games of a new board are numbered from the current time.
  const row = (of) => of.page.locator(`.past-game[data-game*="-${board}-"]`);
  const other = await Reader.open(context, 1280, true);
  await until("the list", async () => (await other.page.locator(".past-game").count()) > 1);
  // Games without players are folded away.
  const last = other.page.locator(".past-game:visible").last();
  await last.focus();
  await page.locator("[name=text]").fill("");
  await until("all games", async () => (await page.locator(".past-game").count()) > 1);
  await eventually(async () => assert.equal(await row(reader).count(), 0, "it has not begun"));
  console.log("play");
  for (const one of [reader, other]) await until("it is in the list", async () => (await row(one).count()) === 1);
  await eventually(async () => assert.match(await row(reader).textContent(), /not finished/));
  // The players go on with other games.
  const game = await row(reader).getAttribute("data-game");
  await row(reader).click();
  await until("it is opened", async () => (await reader.text(".reviewed .facts")).includes(board));
  const moves = page.locator(".reviewed .move");
  await until("two moves", async () => (await moves.count()) > 1);
  await page.keyboard.press("End");
  const seen = await moves.count();
  const caption = () => reader.text(".reviewed .diagram .caption");
  await until("the diagram goes on with it", async () => {
    const shown = await page.locator(".reviewed .move.now").getAttribute("data-ply");
    return Number(shown) > seen && (await reader.text("#said")).startsWith(await caption());
  });
  await page.keyboard.press("Home");
  await page.keyboard.press("ArrowRight");
  await eventually(async () => assert.match(await caption(), /After 1\. /));
  const then = await moves.count();
  await until("more moves", async () => (await moves.count()) > then);
  await eventually(async () => assert.match(await caption(), /After 1\. /, "who looks at another move stays there"));
  await eventually(async () => assert.match(await reader.text("#said"), /After 1\. /, "and is not talked at"));
  await until("the end", async () => /1–0 · checkmate/i.test(await reader.text(".reviewed .facts")));
  await page.keyboard.press("End");
  await until("why the last move", async () => (await page.locator(".weighed:visible tbody tr").count()) > 0);
  await reader.assertUsable("the game that was followed");
  await until("the list has it", async () => /checkmate/i.test(await other.page.locator(`.past-game[data-game="${game}"]`).textContent()));
  const held = await other.page.evaluate(() => document.activeElement.dataset.game);
  await eventually(async () => assert.equal(held, await last.getAttribute("data-game"), "the focus stays"));
  await other.viewer.close();
  await page.keyboard.press("Escape");
}

setTimeout(() => {
  console.error("it takes too long");
  process.exit(1);
}, LONGEST);
const context = await browser(profile);
try {
  const reader = await Reader.open(context, 1280, false);
  await logsIn(reader);
  await findsGame(reader);
  await foldsGamesWithoutPlayers(reader);
  await stepsThrough(reader);
  await explainsMove(reader);
  await downloads(reader, context);
  for (const [width, dark, search] of [[320, true, "?lang=de"], [390, false, ""], [2560, true, ""]]) {
    const other = await Reader.open(context, width, dark, search);
    await until("the list", async () => (await other.page.locator(".past-game").count()) > 0);
    await other.assertUsable(`the list at ${width}`);
    await other.viewer.go(await reader.page.evaluate(() => location.hash));
    await until("the moves", async () => (await other.page.locator(".reviewed .move").count()) > 0);
    await other.page.locator(".reviewed .move").first().click();
    await until("what was weighed", async () => (await other.page.locator(".weighed tbody tr").count()) > 0);
    await other.assertUsable(`the game at ${width}`);
    await other.viewer.close();
  }
  await reader.page.keyboard.press("Escape");
  await until("the list again", () => reader.page.locator(".games").isVisible());
  await followsGame(reader, context);
  await until("the list after all", () => reader.page.locator(".games").isVisible());
  await reader.page.keyboard.press("Escape");
  await until("the desk", () => reader.page.locator(".needs").isVisible());
  await reader.viewer.close();
} catch (error) {
  console.error(error);
  process.exitCode = 1;
} finally {
  await context.close();
  process.exit();
}
