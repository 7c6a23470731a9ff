// An operator at the desk of a hub, in chromium: all halls are there, what is in the halls is not offered, a hall that goes is
// one line, and a command that nobody answers says so.
//
//   node hub.mjs ADDRESS USER PASSWORD PROFILE
//
// Whoever runs it kills the daemon of the hall north when it prints "kill"; the hall south takes no commands. It uses what is
// among the wall's scripts: viewer.mjs, playwright-core and axe-core.

import assert from "node:assert/strict";
import { Viewer, browser, until } from "./viewer.mjs";

const [address, user, password, profile] = process.argv.slice(2);
const LONGEST = 200_000;

async function looksWell({ viewer }, what) {
  assert.equal(await viewer.isTooWide(), false, `${what} is too wide`);
  assert.deepEqual(await viewer.barriers(), [], what);
}

/** Somebody at the desk, who sees both halls. The browser says that it was refused, and what a hub has no answer to. */
async function sit(context, search, width, dark) {
  const viewer = await Viewer.open(context, address + search, width, dark);
  viewer.forgive(true);
  return { viewer, page: viewer.page };
}

async function comesIn({ page }) {
  await until("the form", 15, () => page.locator(".login").isVisible());
  await page.locator("[name=user]").fill(user);
  await page.locator("[name=password]").fill(password);
  await page.locator(".login button").click();
  await until("both halls", 60, async () => (await page.locator(".seat .clock:not(:empty)").count()) === 4);
}

async function hasNoPast({ page }) {
  assert.equal(await page.locator(".to-past").isVisible(), false, "past games are in the halls");
  assert.ok(await page.getByText("at the desk of each hall").isVisible(), "it says where they are");
  await page.evaluate(() => (location.hash = "#/games"));
  await page.waitForTimeout(300);
  assert.equal(await page.locator(".archive").isVisible(), false);
  await page.evaluate(() => (location.hash = "#/"));
}

async function setsUp(operator) {
  const { page } = operator;
  await page.locator(".to-setup").click();
  await until("the set-up", 10, () => page.locator(".setup").isVisible());
  const steps = await page.locator(".step h3").allTextContents();
  assert.deepEqual(steps, ["1. Boards", "2. Start"]);
  await looksWell(operator, "the set-up");
  await page.locator(".back-to").click();
}

/** Enters a note on a board, and returns what is said of it. */
async function notes({ page }, board) {
  await page.evaluate((name) => (location.hash = `#/board/${encodeURIComponent(name)}`), board);
  const fold = page.locator(".fold", { has: page.locator("summary", { hasText: /^Note$/ }) });
  await fold.locator("summary").click();
  await fold.locator("textarea").fill("seen from the hub");
  await fold.getByRole("button", { name: "Save the note", exact: true }).click();
  const answer = fold.locator(".answer");
  await until("an answer", 40, async () => !/Sending/.test((await answer.textContent()) || "Sending"));
  return answer.textContent();
}

async function works(context) {
  const operator = await sit(context, "", 1280, false);
  await comesIn(operator);
  const { page } = operator;
  await hasNoPast(operator);
  await looksWell(operator, "the desk");
  await setsUp(operator);
  assert.match(await notes(operator, "north/kiebitz/board-1"), /^Done/);
  await looksWell(operator, "a board");
  assert.match(await notes(operator, "south/kiebitz/board-1"), /^No answer from south/);
  await page.evaluate(() => (location.hash = "#/"));
  console.log("kill");
  const gone = page.locator(".needs .line", { hasText: "No contact" });
  await until("the hall is gone", 30, async () => (await gone.count()) === 1);
  assert.match(await gone.textContent(), /north/);
  assert.match(await page.locator(".tables .bad .health").first().textContent(), /no contact/);
  await looksWell(operator, "a hall that is gone");
  assert.match(await notes(operator, "north/kiebitz/board-1"), /north cannot be reached/);
  const other = await sit(context, "?lang=de", 320, true);
  await until("the hall is gone", 30, async () => (await other.page.locator(".needs .line", { hasText: "Kein Kontakt" }).count()) === 1);
  await looksWell(other, "a phone");
  for (const { viewer } of [operator, other]) await viewer.close();
}

setTimeout(() => {
  console.error("not in time");
  process.exit(1);
}, LONGEST);

const context = await browser(profile);
try {
  await works(context);
} catch (error) {
  console.error(error);
  process.exitCode = 1;
} finally {
  await context.close();
  process.exit();
}
