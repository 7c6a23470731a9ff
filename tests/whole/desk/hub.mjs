// An operator uses the desk of a hub in chromium: all halls are listed, functions of a single hall are not offered, an
// offline hall is shown in a single line, and an unanswered command is reported.
//
//   node hub.mjs ADDRESS USER PASSWORD PROFILE
//
// When the script prints "kill", the caller must kill the daemon of the hall north. The hall south must not accept
// commands. Needs viewer.mjs, playwright-core and axe-core in the same folder: see npm.rs.

import assert from "node:assert/strict";
import { Viewer, browser, eventually, until } from "./viewer.mjs";

const [address, user, password, profile] = process.argv.slice(2);
const LONGEST = 900_000;

async function assertUsable({ viewer }, what) {
  await eventually(async () => assert.equal(await viewer.isTooWide(), false, `${what} is too wide`));
  await eventually(async () => assert.deepEqual(await viewer.barriers(), [], what));
}

/** Opens the desk. Ignores the browser's messages about requests that fail before the login or that a hub refuses. */
async function openDesk(context, search, width, dark) {
  const viewer = await Viewer.open(context, address + search, width, dark);
  viewer.ignoreNetworkErrors(true);
  return { viewer, page: viewer.page };
}

async function logsIn({ page }) {
  await until("the form", () => page.locator(".login").isVisible());
  await page.locator("[name=user]").fill(user);
  await page.locator("[name=password]").fill(password);
  await page.locator(".login button").click();
  await until("both halls", async () => (await page.locator(".seat .clock:not(:empty)").count()) === 4);
}

/** Past games are at the desks of the halls, to which the page links if their addresses are announced. */
async function linksToHalls({ viewer, page }) {
  const menu = page.locator(".menu");
  await menu.locator("summary").click();
  const link = menu.locator("a");
  await until("a link", async () => (await link.count()) === 1);
  await eventually(async () => assert.equal(await link.getAttribute("href"), "http://north.example:8038/#/games"));
  await eventually(async () => assert.equal(await link.textContent(), "Past games of north"));
  await eventually(async () => assert.match(await menu.textContent(), /south: its desk has no address for other computers/));
  await assertUsable({ viewer, page }, "the menu of halls");
  await page.keyboard.press("Escape");
  await eventually(async () => assert.equal(await link.isVisible(), false));
  await eventually(async () => assert.ok(await page.getByText("at the desk of each hall").isVisible(), "it says where they are"));
  await page.evaluate(() => (location.hash = "#/games"));
  await page.waitForTimeout(300);
  await eventually(async () => assert.equal(await page.locator(".archive").isVisible(), false));
  await page.evaluate(() => (location.hash = "#/"));
}

async function setsUp(operator) {
  const { page } = operator;
  await page.locator(".to-setup").click();
  await until("the set-up", () => page.locator(".setup").isVisible());
  const steps = () => page.locator(".step h3").allTextContents();
  await eventually(async () => assert.deepEqual(await steps(), ["1. Boards", "2. Pairings", "3. Every square", "4. Start"]));
  // Squares and clocks are checked in the hall.
  const heads = () => page.locator(".sheet thead th").allTextContents();
  await eventually(async () => assert.deepEqual(await heads(), ["Board", "Table", "Serial number", "Battery", "Hall", "Name"]));
  const links = page.locator(".setup a[target]");
  await eventually(async () => assert.deepEqual(await links.allTextContents(), ["Desk of north", "Pairing files of north", "Tests of squares and clocks in north"]));
  for (const link of await links.all()) {
    await eventually(async () => assert.equal(await link.getAttribute("href"), "http://north.example:8038/#/setup"));
  }
  await assertUsable(operator, "the set-up");
  await page.locator(".back-to").click();
}

/** Enters a note on a board, and returns the answer that the page shows. */
async function enterNote({ page }, board) {
  await page.evaluate((name) => (location.hash = `#/board/${encodeURIComponent(name)}`), board);
  const fold = page.locator(".fold", { has: page.locator("summary", { hasText: /^Note$/ }) });
  await fold.locator("summary").click();
  await fold.locator("textarea").fill("seen from the hub");
  await fold.getByRole("button", { name: "Save the note", exact: true }).click();
  const answer = fold.locator(".answer");
  await until("an answer", async () => !/Sending/.test((await answer.textContent()) || "Sending"));
  return answer.textContent();
}

async function usesDesk(context) {
  const operator = await openDesk(context, "", 1280, false);
  await logsIn(operator);
  const { page } = operator;
  await linksToHalls(operator);
  await assertUsable(operator, "the desk");
  await setsUp(operator);
  await eventually(async () => assert.match(await enterNote(operator, "north/kiebitz/board-1"), /^Done/));
  await assertUsable(operator, "a board");
  const own = page.locator(".opened-head a", { hasText: "This board at the desk of north" });
  await eventually(async () => assert.equal(await own.getAttribute("href"), "http://north.example:8038/#/board/board-1"));
  await eventually(async () => assert.match(await enterNote(operator, "south/kiebitz/board-1"), /^No answer from south/));
  await page.evaluate(() => (location.hash = "#/"));
  console.log("kill");
  const gone = page.locator(".needs .line", { hasText: "No contact" });
  await until("the hall is gone", async () => (await gone.count()) === 1);
  await eventually(async () => assert.match(await gone.textContent(), /north/));
  await until("its tables", () => page.locator(".tables .advice .health", { hasText: "no contact" }).first().isVisible());
  await assertUsable(operator, "a hall that is gone");
  await eventually(async () => assert.match(await enterNote(operator, "north/kiebitz/board-1"), /north cannot be reached/));
  const other = await openDesk(context, "?lang=de", 320, true);
  await until("the hall is gone", async () => (await other.page.locator(".needs .line", { hasText: "Kein Kontakt" }).count()) === 1);
  await assertUsable(other, "a phone");
  // The menu is not cut off by the row of tools.
  await other.page.locator(".menu summary").click();
  const isOnTop = (one) => {
    const { x, y, width, height } = one.getBoundingClientRect();
    return one.contains(document.elementFromPoint(x + width / 2, y + height / 2));
  };
  await eventually(async () => assert.ok(await other.page.locator(".menu li").last().evaluate(isOnTop), "the menu on a phone"));
  for (const { viewer } of [operator, other]) await viewer.close();
}

setTimeout(() => {
  console.error("not in time");
  process.exit(1);
}, LONGEST);

const context = await browser(profile);
try {
  await usesDesk(context);
} catch (error) {
  console.error(error);
  process.exitCode = 1;
} finally {
  await context.close();
  process.exit();
}
