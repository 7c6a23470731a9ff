// Two halls with a board at table 1 each, at the desk and on the wall of a hub in chromium.
//
//   node tables.mjs DESK WALL USER PASSWORD PROFILE NAMED
//
// If NAMED is "named", the halls are North and South with tables of their own, and South has a table 2 without a board.
// Otherwise, both have table 1 of one event. Needs viewer.mjs, playwright-core and axe-core in the same folder: see
// npm.rs.

import assert from "node:assert/strict";
import { Viewer, browser, eventually, until } from "./viewer.mjs";

const [desk, wall, user, password, profile, kind] = process.argv.slice(2);
const isNamed = kind === "named";
const LONGEST = 900_000;

async function assertUsable(viewer, what) {
  await eventually(async () => assert.equal(await viewer.isTooWide(), false, `${what} is too wide`));
  await eventually(async () => assert.deepEqual(await viewer.barriers(), [], what));
}

async function texts(locator) {
  return (await locator.allTextContents()).map((text) => text.trim());
}

/** Forms show the number that is on the table, after the name of its hall. */
async function typesNumbersOfHalls(page) {
  await page.evaluate(() => (location.hash = "#/setup"));
  const cells = page.locator(".sheet .of-table");
  await eventually(async () => assert.deepEqual(await texts(cells.locator(".hall-name")), ["North", "South"]));
  const typed = () => cells.locator("input").evaluateAll((all) => all.map(({ value }) => value));
  await eventually(async () => assert.deepEqual(await typed(), ["1", "1"]));
  await eventually(async () => assert.ok(await page.getByRole("spinbutton", { name: "Table South: south/kiebitz/board-1" }).isVisible()));
  // Each hall counts from the first number.
  await eventually(async () => assert.equal(await page.getByRole("button", { name: "Number 1 to 1 in this order" }).isDisabled(), true));
  await page.evaluate(() => (location.hash = `#/board/${encodeURIComponent("south/kiebitz/board-1")}`));
  await page.locator(".fold summary", { hasText: "Players and table" }).click();
  const ofBoard = page.getByLabel("Table at which the board stands (South)");
  await eventually(async () => assert.equal(await ofBoard.inputValue(), "1"));
}

async function seesBothOnDesk(context) {
  const viewer = await Viewer.open(context, desk, 1366, false);
  // The browser logs requests before the login as errors.
  viewer.ignoreNetworkErrors(true);
  const { page } = viewer;
  await until("the form", () => page.locator(".login").isVisible());
  await page.locator("[name=user]").fill(user);
  await page.locator("[name=password]").fill(password);
  await page.locator(".login button").click();
  const seats = page.locator(".seat .table");
  const expected = isNamed ? ["North 1", "South 1"] : ["1 north", "1 south"];
  await eventually(async () => assert.deepEqual(await texts(seats), expected));
  await until("both games", async () => (await page.locator(".seat .last", { hasText: /^\s*\d+\./ }).count()) === 2);
  const shared = page.locator(".needs .line", { hasText: "One table in two halls" });
  await eventually(async () => assert.equal(await shared.count(), isNamed ? 0 : 1));
  const own = /played at table 1\. .*as ((?:north|south) 1)/;
  if (!isNamed) await eventually(async () => assert.match(await shared.textContent(), own));
  // The game that began first keeps the number.
  const others = isNamed ? ["South 1", "South 2"] : [own.exec(await shared.textContent())[1]];
  await assertUsable(viewer, "the desk");
  await page.evaluate(() => (location.hash = "#/results"));
  const numbers = page.locator(".result-row .row-top > .table");
  const rows = [isNamed ? "North 1" : "1", ...others];
  await eventually(async () => assert.deepEqual(await texts(numbers), rows));
  const last = page.locator(".result-row").nth(rows.length - 1);
  await last.locator(".choice", { hasText: "½–½" }).first().click();
  await eventually(async () => assert.equal((await last.locator(".shown-result").textContent()).trim(), "½–½"));
  await assertUsable(viewer, "the results");
  if (isNamed) {
    await typesNumbersOfHalls(page);
    await assertUsable(viewer, "a board of a hall");
  }
  await viewer.close();
  return rows;
}

async function seesBothOnWall(context, rows) {
  const viewer = await Viewer.open(context, wall, 390, true);
  const { page } = viewer;
  await page.evaluate(() => (location.hash = "#/round/3/results"));
  const list = page.locator(".list tbody tr");
  await eventually(async () => assert.deepEqual(await texts(list.locator("th")), rows));
  await eventually(async () => assert.match(await list.last().textContent(), /½/));
  await list.nth(1).locator("th a").click();
  const title = page.locator(".large h1");
  await eventually(async () => assert.ok((await title.textContent()).includes(`Board ${rows[1]}`)));
  await assertUsable(viewer, "the game of the other hall");
  await viewer.close();
}

setTimeout(() => {
  console.error("not in time");
  process.exit(1);
}, LONGEST);

const context = await browser(profile);
try {
  const rows = await seesBothOnDesk(context);
  await seesBothOnWall(context, rows);
} catch (error) {
  console.error(error);
  process.exitCode = 1;
} finally {
  await context.close();
  process.exit();
}
