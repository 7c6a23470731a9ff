// An operator enters the results and byes of a round at the desk in chromium, in a hall without any board.
//
//   node paper.mjs ADDRESS WALL USER PASSWORD [PROFILE]
//
// The desk at ADDRESS must have no board, and these pairings: round 1 with Adler – Berg, Clausen – Dorn, and Zorn with a
// bye of one point in the file; round 2 with Adler – Clausen and Berg – Zorn. WALL is the address of the broadcast. When
// the script prints "restart", the caller must stop kiebitz and start it again. Needs viewer.mjs, playwright-core and
// axe-core in the same folder: see npm.rs.

import assert from "node:assert/strict";
import fs from "node:fs";
import os from "node:os";
import path from "node:path";
import { Viewer, browser, eventually, until } from "./viewer.mjs";

const [address, wall, user, password, profile = fs.mkdtempSync(path.join(os.tmpdir(), "paper-"))] = process.argv.slice(2);
const LONGEST = 900_000;

let viewer;
let page;

async function text(locator) {
  return (await locator.first().textContent()) ?? "";
}

async function assertUsable(what) {
  await eventually(async () => assert.equal(await viewer.isTooWide(), false, `${what} is too wide`));
  await eventually(async () => assert.deepEqual(await viewer.barriers(), [], what));
}

function bye(player) {
  return page.locator(".bye-row", { hasText: player });
}

async function isPressed(row, label) {
  return (await row.locator(".choice", { hasText: label }).first().getAttribute("aria-pressed")) === "true";
}

function row(table) {
  return page.locator(".result-row").nth(table - 1);
}

/** Points of each player in the standings of the broadcast. */
async function points() {
  const { players } = await (await fetch(new URL("/standings.json", wall))).json();
  return Object.fromEntries(players.map(({ name, points: of }) => [name, of]));
}

async function untilPoints(what, wanted) {
  await until(what, async () => {
    const found = await points();
    assert.deepEqual(found, wanted);
    return true;
  });
}

async function logIn() {
  await until("the form", () => page.locator(".login").isVisible());
  await page.locator("[name=user]").fill(user);
  await page.locator("[name=password]").fill(password);
  await page.locator(".login button").click();
  await until("the bar", () => page.locator(".round-name").isVisible());
}

async function entersResults() {
  await viewer.go("#/results/1");
  await until("the tables", async () => (await page.locator(".result-row").count()) === 2);
  await row(1).locator(".choice", { hasText: "1–0" }).click();
  await until("the first result", () => isPressed(row(1), "1–0"));
  await row(2).locator(".choice", { hasText: "+/–" }).click();
  await until("a forfeit", () => isPressed(row(2), "+/–"));
  await eventually(async () => assert.match(await text(row(1).locator(".entered-by")), new RegExp(user)));
  await untilPoints("the results and the bye of the file count", { Adler: 1, Clausen: 1, Zorn: 1, Berg: 0, Dorn: 0 });
  await assertUsable("results without a board");
}

/** The bye of the file is shown; the arbiter's entry replaces it, and can be undone. */
async function entersByes() {
  const zorn = bye("Zorn");
  await eventually(async () => assert.ok(await isPressed(zorn, "1, bye")));
  await zorn.locator(".choice", { hasText: "½, bye" }).click();
  await until("half a point", () => isPressed(zorn, "½, bye"));
  await untilPoints("half a point counts", { Adler: 1, Clausen: 1, Zorn: 0.5, Berg: 0, Dorn: 0 });
  await zorn.getByRole("button", { name: "Undo" }).click();
  await until("the point of the file", () => isPressed(zorn, "1, bye"));
  await untilPoints("the file counts again", { Adler: 1, Clausen: 1, Zorn: 1, Berg: 0, Dorn: 0 });
  // Dorn is not paired in the second round.
  await viewer.go("#/results/2");
  await until("who is not paired", async () => /Not paired in this round: 1/.test(await text(page.locator(".results-sheet summary"))));
  await page.locator(".results-sheet summary").click();
  await assertUsable("players who are not paired");
  await bye("Dorn").locator(".choice", { hasText: "½, bye" }).click();
  await until("Dorn's half point", async () => (await page.locator(".byes .bye-row").count()) === 1 && (await isPressed(bye("Dorn"), "½, bye")));
  await until("nobody else", async () => !(await page.locator(".results-sheet details.fold").isVisible()));
  await row(1).locator(".choice", { hasText: "½–½" }).click();
  await until("a draw", () => isPressed(row(1), "½–½"));
  await untilPoints("both rounds count", { Adler: 1.5, Clausen: 1.5, Zorn: 1, Berg: 0, Dorn: 0.5 });
}

async function staysAfterRestart() {
  viewer.ignoreNetworkErrors(true);
  console.log("restart");
  await until("the connection is lost", async () => /Not up to date/.test(await text(page.locator("#state"))));
  await until("it is back", async () => (await text(page.locator("#state"))) === "");
  viewer.ignoreNetworkErrors(false);
  await page.reload();
  await until("the draw", () => isPressed(row(1), "½–½"));
  await eventually(async () => assert.ok(await isPressed(bye("Dorn"), "½, bye")));
  await untilPoints("the same standings", { Adler: 1.5, Clausen: 1.5, Zorn: 1, Berg: 0, Dorn: 0.5 });
  await viewer.go("#/results/1");
  await until("the first round", () => isPressed(row(2), "+/–"));
  // The record of rounds is not a board.
  await viewer.go("#/");
  await until("the desk", () => page.locator(".room").isVisible());
  await eventually(async () => assert.equal(await page.locator(".tables .seat").count(), 0));
  await eventually(async () => assert.match(await text(page.locator(".about")), /^0 boards/));
}

async function fitsPhone() {
  await page.setViewportSize({ width: 390, height: 844 });
  await viewer.go("#/results/1");
  await until("the byes", () => bye("Zorn").isVisible());
  await assertUsable("byes on a phone");
}

setTimeout(() => {
  console.error("the script takes too long");
  process.exit(1);
}, LONGEST);
const context = await browser(profile);
try {
  viewer = await Viewer.open(context, address, 1366, false);
  page = viewer.page;
  // The first question about the session is answered with 401.
  viewer.ignoreNetworkErrors(true);
  await logIn();
  viewer.ignoreNetworkErrors(false);
  await entersResults();
  await entersByes();
  await staysAfterRestart();
  await fitsPhone();
  await viewer.close();
} catch (error) {
  console.error(error);
  process.exitCode = 1;
} finally {
  await context.close();
  process.exit();
}
