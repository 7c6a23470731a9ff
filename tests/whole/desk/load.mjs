// What a fresh browser loads from the desk, and what it does if a part of the page cannot be loaded.
//
//   node load.mjs ADDRESS USER PASSWORD [PROFILE]
//
// USER must be an operator of the desk at ADDRESS, which must have pairings of a round and a board. Needs viewer.mjs,
// playwright-core and axe-core in the same folder: see npm.rs.

import assert from "node:assert/strict";
import fs from "node:fs";
import os from "node:os";
import path from "node:path";
import { Viewer, browser, eventually, until } from "./viewer.mjs";

const [address, user, password, profile = fs.mkdtempSync(path.join(os.tmpdir(), "load-"))] = process.argv.slice(2);
const LONGEST = 900_000;
/** Maximum size of everything that is loaded until the list of boards is usable, with headers, in bytes. */
const MAX_SIZE = 100_000;

let viewer;
let page;

async function assertUsable(what) {
  await eventually(async () => assert.equal(await viewer.isTooWide(), false, `${what} is too wide`));
  await eventually(async () => assert.deepEqual(await viewer.barriers(), [], what));
}

async function logIn() {
  await until("the form", () => page.locator(".login").isVisible());
  await page.locator("[name=user]").fill(user);
  await page.locator("[name=password]").fill(password);
  await page.locator(".login button").click();
  await until("the boards", () => page.locator(".tables .seat").first().isVisible());
}

/** Names and transferred sizes of the files that were requested before the list was usable, and of later ones. */
function loaded() {
  return page.evaluate(() => {
    const [{ startTime: usable }] = performance.getEntriesByName("kiebitz-usable");
    const files = ["navigation", "resource"].flatMap((type) => performance.getEntriesByType(type));
    const rows = files.map(({ name, startTime, transferSize, encodedBodySize, decodedBodySize }) => ({
      name: new URL(name).pathname,
      isFirst: startTime <= usable,
      size: transferSize,
      isCompressed: encodedBodySize < decodedBodySize,
    }));
    return { first: rows.filter(({ isFirst }) => isFirst), later: rows.filter(({ isFirst }) => !isFirst) };
  });
}

async function firstLoadIsSmall(language) {
  const { first } = await loaded();
  const size = first.reduce((sum, one) => sum + one.size, 0);
  const list = first.map(({ name, size: of }) => `${of} ${name}`).join("\n");
  assert.ok(first.some(({ name }) => name === "/desk/main.js"), list);
  assert.ok(first.every(({ name, size: of, isCompressed }) => isCompressed || of < 2000 || !/[.](js|css)$/.test(name)), list);
  assert.ok(size < MAX_SIZE, `${size} bytes are loaded at once\n${list}`);
  console.error(`the desk loads ${size} bytes in ${first.length} files, in ${language}`);
  // An opened board must not wait for the network: its part is loaded as soon as the list is usable.
  await until("the part for opened boards", async () => (await loaded()).later.some(({ name }) => name === "/desk/board.js"));
  const all = [...first, ...(await loaded()).later].map(({ name }) => name);
  for (const part of ["setup", "archive", "results", "begin", "halls"]) {
    const isLoaded = all.includes(`/desk/${part}.js`) && part !== "halls";
    assert.ok(!isLoaded, `${part} is loaded before it is opened`);
  }
}

/** If a part cannot be loaded, the page says so, with a button that tries again. */
async function failedPartIsLoadedAgain(link, file, shown) {
  viewer.ignoreNetworkErrors(true);
  await page.route("**/desk/version.js", (route) => route.abort());
  await page.locator(link).click();
  const place = page.locator(".part-place:visible");
  await until("the notice", async () => /does not answer/.test((await place.textContent()) ?? ""));
  await assertUsable(`${file} without a network`);
  await page.unroute("**/desk/version.js");
  // The server answers, but not with this file.
  await page.route(`**/desk/${file}`, (route) => route.fulfill({ status: 404 }));
  await place.getByRole("button", { name: "Try again" }).click();
  await until("the page is loaded anew", async () => /could not be loaded\.$/.test((await place.locator("p").textContent()) ?? ""));
  await page.unroute(`**/desk/${file}`);
  await place.getByRole("button", { name: "Try again" }).click();
  await until(`${file} is shown`, () => page.locator(shown).isVisible());
  await eventually(async () => assert.equal(await page.locator(".part-place:visible").count(), 0));
  viewer.ignoreNetworkErrors(false);
  await assertUsable(file);
}

/** Modules of two versions are never mixed: the page is reloaded. */
async function newVersionIsLoadedAsAWhole() {
  await page.evaluate(() => {
    globalThis.isOld = true;
  });
  const version = await (await fetch(new URL("/desk/version.js", address))).text();
  await page.route("**/desk/version.js", (route) => route.fulfill({ contentType: "text/javascript", body: version.replace(/"\w+"/, '"other"') }));
  await page.locator(".to-past").first().click();
  await until("another page", () => page.evaluate(() => globalThis.isOld === undefined && performance.getEntriesByName("kiebitz-usable").length === 1));
  await page.unroute("**/desk/version.js");
  assert.match(page.url(), /#\/games$/, "the page stays where the user went");
}

async function openedBoardIsShown() {
  await page.locator(".tables .seat a, a.seat").first().click();
  await until("the board", () => page.locator(".opened h2").isVisible());
  await until("its pieces", async () => (await page.locator(".opened cg-board piece").count()) === 32);
}

const timer = setTimeout(() => {
  console.error("the script takes too long");
  process.exit(1);
}, LONGEST);
const context = await browser(profile);
try {
  for (const language of ["en", "de"]) {
    viewer = await Viewer.open(context, `${address}?lang=${language}`, 1366, language === "de");
    ({ page } = viewer);
    viewer.ignoreNetworkErrors(true);
    if (language === "en") await logIn();
    else await until("the boards", () => page.locator(".tables .seat").first().isVisible());
    // With the session the page is the same as for a browser that has just logged in.
    await page.reload();
    await until("the boards again", () => page.locator(".tables .seat").first().isVisible());
    viewer.ignoreNetworkErrors(false);
    await firstLoadIsSmall(language);
    if (language === "en") {
      await openedBoardIsShown();
      await viewer.go("#/");
      await failedPartIsLoadedAgain(".to-setup", "setup.js", ".setup h2");
      await failedPartIsLoadedAgain(".to-results", "results.js", ".results-sheet h2");
      await newVersionIsLoadedAsAWhole();
    }
    await viewer.close();
  }
} finally {
  await context.close();
  clearTimeout(timer);
}
