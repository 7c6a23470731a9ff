// Watches a round on the wall in chromium. Requests actions in the hall from the test (wall.rs): it prints a line for
// each request, and reads a line of JSON as the answer.

import assert from "node:assert/strict";
import fs from "node:fs";
import path from "node:path";
import readline from "node:readline";
import { startProxy } from "./line.mjs";
import { Viewer, browser, eventually, until } from "./viewer.mjs";
import { serve } from "./static.mjs";

const [port, folder, profile] = process.argv.slice(2);
const BOARDS = 12;
const HALL = `http://127.0.0.1:${port}/`;

const answers = readline.createInterface({ input: process.stdin })[Symbol.asyncIterator]();

async function ask(what) {
  process.stdout.write(`${what}\n`);
  return JSON.parse((await answers.next()).value);
}

/** Whether the wall shows the same moves and clocks as the server's file. */
async function wallMatchesFiles(viewer) {
  const { games } = await (await fetch(`${HALL}round-1/wall.json`)).json();
  const cards = await viewer.cards();
  assert.equal(cards.length, BOARDS);
  const tables = cards.map(({ table }) => table);
  assert.equal(new Set(tables).size, BOARDS, String(tables));
  for (const card of cards) {
    const { last, white, clock } = games.find(({ table }) => String(table) === card.table);
    assert.equal(card.white, white.name, "a name is a text");
    const there = last ? `${last.number}.${last.color === "white" ? "" : ".."} ${last.san}` : "";
    if (card.last !== there) return false;
    if (!clock?.white_ms) continue;
    const passed = clock.running === "white" ? Date.now() - clock.as_of : 0;
    const off = Math.abs(card.whiteSeconds * 1000 - Math.max(0, clock.white_ms - passed));
    if (off > 2500) return false;
  }
  return true;
}

async function wallIsLive(viewer) {
  await until("all boards have moved", async () => (await viewer.cards()).every(({ last }) => last));
  await until("wall and files agree", () => wallMatchesFiles(viewer));
  // Between two moves the page lets the clock run.
  const fell = async () => {
    const before = await viewer.running();
    await viewer.page.waitForTimeout(1600);
    const after = await viewer.running();
    return Object.keys(before).some((key) => {
      const gone = before[key].seconds - after[key]?.seconds;
      return before[key].last === after[key]?.last && gone >= 0.9 && gone <= 3.1;
    });
  };
  await until("a clock that runs", fell);
  await eventually(async () => {
    const name = await viewer.page.locator('.card .open[href$="/board/7"]').getAttribute("aria-label");
    assert.match(name, /^Board 7, White 7–Black 7, \d+\.(\.\.)? \S+, \d+:\d\d/);
    const match = await viewer.page.locator(".match").allTextContents();
    assert.equal(match.length, 1, "two teams");
    assert.match(match[0], /^SK Nord\d*½? : \d*½?SV Süd$/);
  });
  await eventually(async () => assert.match(await viewer.page.title(), /^SK Nord \d*½? : \d*½? SV Süd · Kiebitz Open$/));
}

async function largeBoardIsSteppedThrough(viewer) {
  const { page } = viewer;
  await page.locator('.card .open[href$="/board/3"]').click();
  await until("six plies", async () => (await viewer.moves()).length >= 6);
  const { moves, start } = await (await fetch(`${HALL}round-1/board-3.json`)).json();
  const shows = (placement) => until(`${placement} is shown`, async () => (await viewer.placement()) === placement);
  await page.keyboard.press("Home");
  await shows(start.split(" ")[0]);
  for (const [key, ply] of [["ArrowRight", 1], ["ArrowRight", 2], ["ArrowRight", 3], ["ArrowLeft", 2]]) {
    await page.keyboard.press(key);
    await shows(moves[ply - 1].placement);
  }
  await eventually(async () => {
    const said = await page.locator(".large > .spoken").textContent();
    assert.ok(said.startsWith(`1... ${moves[1].san}`), said);
  });
  await eventually(async () => assert.equal(await page.locator(".behind").isVisible(), true, "it does not follow"));
  await page.keyboard.press("End");
  await eventually(async () => assert.equal(await page.locator(".behind").isVisible(), false, "it follows"));
  await eventually(async () => {
    const drawn = await page.locator(".curve polyline.white").getAttribute("points");
    assert.ok(drawn.split(" ").length >= 3, "a curve");
    // The axis has times that enclose those of the game.
    const times = await page.locator(".curve .left").allTextContents();
    const seconds = times.map((time) => time.split(":").reduce((sum, part) => sum * 60 + Number(part), 0));
    const lefts = moves.map(({ left_ms: left }) => left / 1000).filter(Boolean);
    assert.ok(Math.min(...seconds) <= Math.min(...lefts) && Math.max(...seconds) >= Math.max(...lefts), String(times));
  });
  await eventually(async () => assert.match(await page.title(), /^White 3 .+ Black 3 · Kiebitz Open$/));
  const pgn = await page.locator(".links a", { hasText: "PGN" }).getAttribute("href");
  await eventually(async () => assert.ok((await (await fetch(HALL + pgn)).text()).includes('[Round "1.3"]')));
}

/** The page recovers by itself after the daemon or the network has failed. */
async function recoversFromOutages(viewer, proxy) {
  const { page } = viewer;
  const state = page.locator("#state");
  const isStale = async () => /No connection/.test(await state.textContent());
  const isWell = async () => (await state.textContent()) === "";
  const plies = async () => (await viewer.moves()).length;

  viewer.ignoreNetworkErrors(true);
  await ask("kill");
  await until("the page says that it is stale", isStale);
  const before = await plies();
  await ask("start");
  await until("it goes on", async () => (await isWell()) && (await plies()) > before);

  await page.context().setOffline(true);
  proxy.cut();
  await until("the page says that it is offline", isStale);
  const offline = await plies();
  await page.context().setOffline(false);
  await until("it is back", async () => (await isWell()) && (await plies()) > offline);
  viewer.ignoreNetworkErrors(false);
  await page.keyboard.press("Escape");
  await until("wall and files agree again", () => wallMatchesFiles(viewer));
}

/** Every control is at least 44 pixels wide and high. A link may cover its row. */
async function targetsAreLarge(viewer, path) {
  const small = () => viewer.page.evaluate(() => {
    const covered = (element) => {
      const covers = getComputedStyle(element, "::after").position === "absolute";
      return (covers ? element.closest("tr") : element).getBoundingClientRect();
    };
    const isTarget = (one) => one.checkVisibility() && getComputedStyle(one).pointerEvents !== "none";
    const all = [...document.querySelectorAll("a, button, select, input")].filter(isTarget);
    const sizes = all.map((one) => [one.outerHTML.slice(0, 120), covered(one)]);
    return sizes.filter(([, { width, height }]) => width < 43.9 || height < 43.9).map(([html, { width, height }]) => `${width} x ${height}: ${html}`);
  });
  await eventually(async () => assert.deepEqual(await small(), [], `${path} at 390`));
}

/** Checks other views and window widths, in both languages. */
async function checksOtherViews(context) {
  for (const [path, width, dark, has] of [
    ["?lang=de", 320, false, "Alle Mannschaften"],
    ["?lang=de#/round/1/board/3", 320, true, "Link zu diesem Brett"],
    ["#/round/1/board/3", 1280, false, "Link to this board"],
    ["", 3840, true, "All teams"],
    ["", 390, true, "All teams"],
    ["#/round/1/board/3", 390, false, "Link to this board"],
    ["#/round/1/results", 390, false, "White 12, W."],
    ["#/standings", 390, true, "Match points"],
    ["?lang=de#/standings", 1366, false, "Mannschaftspunkte"],
    ["#/player/White%2012%2C%20W.", 390, true, "Games of White 12, W."],
    ["?lang=de#/player/%3Cimg%20src%3Dx%20onerror%3Dalert(1)%3E", 1366, false, "Partien von <img"],
    ["?embed", 390, false, ""],
  ]) {
    const viewer = await Viewer.open(context, HALL + path, width, dark);
    const drawn = /results|standings|player/.test(path) ? "tbody tr" : ".board piece";
    await until(path, async () => (await viewer.page.locator(drawn).count()) > 0);
    await eventually(async () => assert.ok((await viewer.page.locator("body").textContent()).includes(has), has));
    await eventually(async () => assert.equal(await viewer.isTooWide(), false, `${path} at ${width}`));
    await eventually(async () => assert.deepEqual(await viewer.barriers(), [], `${path} at ${width}`));
    if (width === 390) await targetsAreLarge(viewer, path);
    if (path.endsWith("#/standings")) {
      // A narrow window has room for the first tie-break only.
      const heads = () => viewer.page.locator("thead .tie-break:visible").allTextContents();
      const expected = width === 390 ? ["BH-C1"] : ["BH-1", "BH", "SB", "Fortschr.", "DV"];
      await eventually(async () => assert.deepEqual(await heads(), expected, path));
      const note = width === 390 ? "ranked by: Buchholz Cut 1, Buchholz" : "entscheiden: Buchholz ohne den";
      await eventually(async () => assert.ok((await viewer.page.locator(".standings").textContent()).includes(note), note));
    }
    if (path === "#/round/1/board/3") {
      // A wide window lists the other games of the round beside the board.
      const rows = viewer.page.locator(".large .list tbody tr:visible");
      await eventually(async () => assert.equal(await rows.count(), width === 390 ? 0 : BOARDS, `${path} at ${width}`));
      if (width !== 390) await eventually(async () => assert.equal(await viewer.page.locator(".large .now .number").textContent(), "3"));
      await eventually(async () => assert.equal(await viewer.page.locator(".large coords coord").count(), 16, "coordinates"));
    }
    const tools = path === "?embed" || path.includes("board/3") ? 0 : 1;
    await eventually(async () => assert.equal(await viewer.page.locator(".tools:visible").count(), tools, path));
    await viewer.close();
  }
  const overlay = await Viewer.open(context, `${HALL}?overlay&boards=2,3`, 1280, false);
  await until("two boards", async () => (await overlay.cards()).length === 2);
  const ground = () => overlay.page.evaluate(() => getComputedStyle(document.body).backgroundColor);
  await eventually(async () => assert.equal(await ground(), "rgba(0, 0, 0, 0)"));
  await overlay.close();
  const projector = await Viewer.open(context, `${HALL}#/wall?projector&per=5&every=1`, 1280, false);
  const turned = projector.page.locator(".turning");
  for (const shown of ["Page 2 / 3", "Page 3 / 3", "Page 1 / 3"]) {
    await until(shown, async () => (await turned.textContent()) === shown);
  }
  await projector.close();
}

/** Nothing of these views is cut off by the window, however large it is. */
async function viewsFitTheirWindow(context) {
  for (const [path, width, height] of [
    ["?projector&per=12", 1280, 720],
    ["?projector", 1920, 1080],
    ["?projector&per=12", 3840, 2160],
    ["?projector&per=5", 1024, 768],
    ["?overlay", 1920, 1080],
  ]) {
    const viewer = await Viewer.open(context, HALL + path, width, false);
    const { page } = viewer;
    await page.setViewportSize({ width, height });
    const isInside = () =>
      page.evaluate(() => {
        const all = [...document.querySelectorAll(".card, .projector #head, .card .foot")];
        const edges = all.map((one) => one.getBoundingClientRect());
        const isIn = (edge) => edge.top >= 0 && edge.left >= 0 && edge.right <= innerWidth && edge.bottom <= innerHeight;
        const feet = [...document.querySelectorAll(".card .foot")];
        const isWhole = feet.every((foot) => foot.getBoundingClientRect().bottom <= foot.closest(".card").getBoundingClientRect().bottom + 1);
        return all.length > 4 && edges.every(isIn) && isWhole;
      });
    await until(`${path} at ${width}`, isInside);
    // Widths in whole pixels may differ by one from each other without anything being cut off.
    const cutOff = () =>
      page.evaluate(() => {
        const texts = [...document.querySelectorAll(".card .name, .card .last, .card .ended, .card .clock, #head h1")];
        const cut = texts.filter((one) => one.scrollWidth > one.clientWidth + 1);
        return cut.map((one) => `${one.outerHTML} ${one.scrollWidth} > ${one.clientWidth}`);
      });
    if (!path.startsWith("?overlay")) await eventually(async () => assert.deepEqual(await cutOff(), [], `${path} at ${width}`));
    if (path === "?overlay") {
      await eventually(async () => {
        const places = await page.locator(".card").evaluateAll((all) => all.map((one) => one.offsetTop));
        assert.equal(places.length, 4);
        assert.equal(new Set(places).size, 2, "two rows of two");
      });
      await eventually(async () => assert.ok((await page.locator(".card .last").allTextContents()).every(Boolean), "the last move"));
    } else {
      await eventually(async () => assert.match(await page.locator("#head").innerText(), /Kiebitz Open[^]*Round 1[^]*\d\d:\d\d/));
    }
    await viewer.close();
  }
}

/** From a game to a player, to the opponent, and back to the game. */
async function playersHavePages(context) {
  const viewer = await Viewer.open(context, `${HALL}#/round/1/board/2`, 1366, false);
  const { page } = viewer;
  const name = page.locator(".player h2");
  await until("the game", () => page.locator(".large .side.white a").isVisible());
  await page.locator(".large .side.white a").click();
  await until("White", async () => (await name.count()) === 1 && (await name.textContent()) === "GM White 2, W.");
  await eventually(async () => assert.equal(await name.evaluate((one) => one === document.activeElement), true, "the name has the focus"));
  await eventually(async () => assert.match(await page.title(), /^White 2, W\. · Kiebitz Open$/));
  await page.locator(".player tbody a.name").click();
  await until("Black", async () => (await name.textContent()) === "Black 2, B.");
  await page.locator(".player tbody .number").click();
  await until("the game again", async () => (await page.locator(".large h1").textContent()).endsWith("Board 2"));
  for (const [path, link] of [["#/round/1/results", ".list"], ["#/standings", ".ranking"]]) {
    await page.evaluate((to) => (location.hash = to), path);
    await page.locator(`${link} a.name`, { hasText: "White 3, W." }).click();
    await until(`the player of ${path}`, async () => (await name.count()) === 1 && (await name.textContent()) === "GM White 3, W.");
  }
  await page.evaluate(() => (location.hash = "#/player/Nobody"));
  await eventually(async () => assert.equal(await page.locator(".player .about:visible").textContent(), "This event has no player of this name."));
  await viewer.close();
}

/** The panels for a video, and the search. */
async function panelsAndSearch(context) {
  const ticker = await Viewer.open(context, `${HALL}?overlay=ticker`, 1280, false);
  await until("the ticker", async () => /^Round 1/.test(await ticker.page.locator(".ticker").innerText()));
  await ticker.close();
  const table = await Viewer.open(context, `${HALL}?overlay=standings&top=3`, 600, false);
  await until("three rows for teams and players", async () => (await table.page.locator("tbody tr").count()) === 5);
  const heights = () => table.page.locator("tbody tr").evaluateAll((all) => all.map((one) => one.offsetHeight));
  await eventually(async () => assert.ok((await heights()).every((height) => height < 40), `rows for eyes, not for fingers: ${await heights()}`));
  await eventually(async () => assert.deepEqual(await table.page.locator("thead th:visible").allTextContents().then((all) => all.slice(-2)), ["Points", "BH-C1"]));
  await table.close();
  const viewer = await Viewer.open(context, HALL, 390, false);
  const { page } = viewer;
  const tables = async () => (await viewer.cards()).map(({ table: one }) => one).join();
  await until("all boards", async () => (await viewer.cards()).length === BOARDS);
  await page.locator("input[type=search]").fill("whíte 11");
  await until("the board of a player", async () => (await tables()) === "11");
  await eventually(async () => assert.equal(await page.locator("input[type=search]").evaluate((one) => one === document.activeElement), true));
  await page.locator("input[type=search]").fill("nobody");
  await until("no board", async () => (await tables()) === "");
  await page.locator("input[type=search]").fill("");
  await until("all boards again", async () => (await viewer.cards()).length === BOARDS);
  // Going back from a board returns to the place where it was opened.
  for (const back of [() => page.goBack(), () => page.locator(".bar .back").click()]) {
    const link = page.locator('.card .open[href$="/board/11"]');
    await page.evaluate(() => document.querySelector('.card .open[href$="/board/11"]').scrollIntoView({ block: "center" }));
    const top = async () => (await link.boundingBox()).y;
    const before = await top();
    await eventually(async () => assert.ok((await page.evaluate(() => scrollY)) > 800, "it is far down"));
    await link.click();
    await until("board 11", async () => (await page.locator(".large h1").textContent()).endsWith("Board 11"));
    await back();
    await until("the same place", async () => Math.abs((await top()) - before) < 3);
  }
  // Even far down the page, finding a player takes one tap and three letters.
  await page.locator("input[type=search]").click();
  await eventually(async () => assert.ok((await page.evaluate(() => scrollY)) > 800, "the search is in sight"));
  await page.keyboard.type("hoh");
  await until("the board of the player with a long name", async () => (await tables()) === "8");
  await eventually(async () => {
    const found = await page.locator(".card").boundingBox();
    assert.ok(found.y > 0 && found.y < 400, `the board is in sight: ${found.y}`);
  });
  await page.locator("input[type=search]").fill("");
  // A finger that moves to the left opens the next board.
  await viewer.go("#/round/1/board/4");
  await until("board 4", async () => (await page.locator(".large h1").textContent()).endsWith("Board 4"));
  await page.evaluate(() => {
    const stage = document.querySelector(".stage");
    const touch = (type, clientX) =>
      stage.dispatchEvent(new PointerEvent(type, { pointerType: "touch", isPrimary: true, clientX, clientY: 200, bubbles: true }));
    touch("pointerdown", 300);
    touch("pointerup", 100);
  });
  await until("board 5", async () => (await page.locator(".large h1").textContent()).endsWith("Board 5"));
  const [top, keys] = [page.locator(".large .board"), page.locator(".keys")];
  await eventually(async () => assert.ok((await top.boundingBox()).y < (await keys.boundingBox()).y, "the board comes first"));
  for (const link of await page.locator(".bar a, .keys button, .links a").all()) {
    const { width, height } = await link.boundingBox();
    await eventually(async () => assert.ok(width >= 44 && height >= 44, `${await link.textContent()}: ${width} x ${height}`));
  }
  await page.locator(".bar .back").click();
  await until("the boards", async () => (await page.locator(".groups").count()) === 1);
  await viewer.close();
}

/** A game that is over without a result is listed as finished, and a forfeit is shown with signs. */
async function outcomesAreTrue(context) {
  const viewer = await Viewer.open(context, HALL, 1366, false);
  const found = await viewer.page.evaluate(async () => {
    const [{ Wall }, words] = await Promise.all([import("/page/wall.js"), import("/page/words.js")]);
    const side = { name: "Adler, Jonas", team: null };
    const last = { ply: 20, number: 10, color: "black", san: "Nf6", uci: "g8f6" };
    const none = { white: side, black: side, placement: null, clock: null, live: false, last: null, result: "*", reason: null };
    const games = [
      { ...none, table: 1, live: true, last },
      { ...none, table: 2 },
      { ...none, table: 3, last, reason: "reset" },
      { ...none, table: 4, last, reason: "adjourned" },
      { ...none, table: 5, result: "1-0", reason: "default" },
      { ...none, table: 6, last, result: "1/2-1/2", reason: "kings" },
    ];
    const wall = new Wall(() => {});
    wall.update(games, 1, []);
    document.body.append(wall.element);
    const clocks = [5, 6].map((table) => {
      const { element } = wall.cards.get(table);
      element.querySelector(".white .clock").textContent = "1:00";
      return getComputedStyle(element.querySelector(".white .clock")).display;
    });
    wall.element.remove();
    const groups = [...wall.element.children].map((group) => [group.dataset.group, [...group.querySelectorAll(".table")].map((one) => one.textContent)]);
    return { groups, clocks, endings: games.map((game) => words.ending(game)), outcomes: games.map(words.outcome), score: words.score(games[4], "white"), date: words.date("2026-11-28") };
  });
  assert.deepEqual(found.groups, [["playing", ["1"]], ["notBegun", ["2"]], ["finished", ["3", "4", "5", "6"]]]);
  assert.deepEqual(found.clocks, ["none", "none"], "the result takes the place of the clocks");
  assert.deepEqual(found.endings.slice(0, 3), ["", "", "result open"]);
  assert.equal(found.endings[3], "adjourned");
  assert.deepEqual(found.outcomes, ["", "", "", "", "+/–", "½–½"]);
  assert.equal(found.score, "+");
  assert.match(found.date, /28 Nov 2026/);
  await viewer.close();
}

/** An opened board fits a phone, however long the names are. */
async function longNamesFit(context) {
  const viewer = await Viewer.open(context, `${HALL}#/board/1`, 390, false);
  await until("the board", () => viewer.page.locator(".large cg-board").isVisible());
  const width = await viewer.page.evaluate(() => {
    for (const name of document.querySelectorAll(".large .name")) name.textContent = "Wolfeschlegelsteinhausenbergerdorff, Hubert Blaine";
    return document.documentElement.scrollWidth;
  });
  assert.equal(width, 390);
  await viewer.close();
}

/** A link to a game has a preview with a picture, and leads to the game. */
async function linksHavePreviews(context) {
  const path = "round-1/board-3";
  const text = await (await fetch(`${HALL}${path}.html`)).text();
  assert.ok(text.includes(`property="og:image" content="https://live.example/${path}.png"`), text);
  assert.match(text, /property="og:title" content="White 3, W\. .+ Black 3, B\."/);
  const hostile = await (await fetch(`${HALL}round-1/board-5.html`)).text();
  assert.ok(!hostile.includes("<img"), hostile);
  const answer = await fetch(`${HALL}${path}.png`);
  assert.equal(answer.headers.get("content-type"), "image/png");
  const viewer = await Viewer.open(context, `${HALL}${path}.html`, 1280, false);
  const { page } = viewer;
  await until("the game", async () => (await page.locator(".large h1").textContent()).endsWith("Board 3"));
  const size = await page.evaluate(async (src) => {
    const image = new Image();
    image.src = src;
    await image.decode();
    return [image.naturalWidth, image.naturalHeight];
  }, `${path}.png`);
  assert.deepEqual(size, [480, 480]);
  await eventually(async () => assert.equal(await page.locator(".links a", { hasText: "Link to this game" }).getAttribute("href"), `${path}.html`));
  await viewer.close();
}

/** The viewer's choices persist when the page is reloaded. */
async function filtersPersist(viewer) {
  const { page } = viewer;
  await page.locator(".card", { has: page.locator('.open[href$="/board/4"]') }).locator(".pin").click();
  await page.locator("[data-control=show]").selectOption("pinned");
  const tables = async () => (await viewer.cards()).map(({ table }) => table);
  await until("the pinned board", async () => (await tables()).join() === "4");
  await page.reload();
  await until("it is still pinned", async () => (await tables()).join() === "4");
  await page.locator("[data-control=show]").selectOption("all");
  await page.locator("[data-control=team]").selectOption("SK Nord");
  await until("all boards of a team", async () => (await tables()).length === BOARDS);
}

/** Every game on the page is the same as in the journal. */
async function everyGameIsRight(viewer) {
  const seconds = (clock) => clock && clock.split(":").reduce((sum, part) => sum * 60 + Number(part), 0);
  for (let board = 1; board <= BOARDS; board += 1) {
    const right = async () => {
      const { start, plies, placement } = (await ask("truth"))[board];
      // The page ends before the first ply that viewers cannot follow.
      const end = plies.findIndex(({ follows }) => !follows);
      const followed = end < 0 ? plies : plies.slice(0, end);
      const position = end < 0 ? placement : followed.at(-1)?.placement ?? start;
      const expected = followed.map(({ san, left_s: left }) => [san, left]);
      const shown = (await viewer.moves()).map(({ san, left }) => [san, seconds(left)]);
      const areSame = JSON.stringify(shown) === JSON.stringify(expected);
      return plies.length > 3 && areSame && (await viewer.placement()) === position;
    };
    await viewer.go(`#/round/1/board/${board}`);
    await until(`game ${board} is right`, right);
  }
}

/** All addresses are read-only, and their contents have nothing that is only for arbiters or operators. */
async function nothingPrivateIsServed() {
  const files = fs.readdirSync(folder, { recursive: true, withFileTypes: true }).filter((file) => file.isFile());
  const paths = files.map((file) => path.relative(folder, path.join(file.parentPath ?? file.path, file.name)));
  assert.ok(paths.length > 40, String(paths));
  const about = JSON.stringify(path.dirname(folder)).slice(1, -1);
  for (const file of ["", "stream", "meta/1", "get/1/wall.json", ...paths]) {
    for (const method of ["POST", "PUT", "DELETE", "PATCH", "OPTIONS"]) {
      await eventually(async () => assert.equal((await fetch(HALL + file, { method })).status, 405, `${method} ${file}`));
    }
    if (file === "stream") continue;
    const answer = await fetch(HALL + file);
    const text = await answer.text();
    assert.equal(answer.status, 200, file);
    for (const secret of [about, "/dev/", "incident", "advice", "sensor", "arbiter", "stream\":"]) {
      const isProgram = /\.(js|css|html)$|^$/.test(file);
      assert.ok(isProgram ? !text.includes(about) : !text.includes(secret), `${secret} in ${file}`);
    }
  }
  const { headers } = await fetch(HALL);
  assert.match(headers.get("content-security-policy"), /^default-src 'none'; script-src 'self';.*frame-ancestors \*$/);
  assert.equal(headers.get("referrer-policy"), "no-referrer");
}

/** The page also works with static files, as in a bucket. */
async function filesAreEnough(context) {
  const server = await serve(folder);
  const viewer = await Viewer.open(context, server.address, 1280, false);
  await until("all boards", async () => (await viewer.cards()).filter(({ last }) => last).length === BOARDS);
  const polled = server.requests.length;
  await until("it asks again", () => server.requests.length >= polled + 4);
  assert.ok(server.unchanged > 0, "what has not changed is not sent again");
  assert.ok(!server.requests.some((path) => path.startsWith("/stream")), "nobody asks for a stream");
  await viewer.close();
  await server.close();
}

const LONGEST = 900_000;
setTimeout(() => {
  console.error("not in time");
  process.exit(1);
}, LONGEST);

const context = await browser(profile);
try {
  await ask("start");
  await until("the page is served", async () => (await fetch(`${HALL}wall.json`)).ok);
  const proxy = await startProxy(port);
  const viewer = await Viewer.open(context, proxy.address, 1280, false);
  await until("all boards are there before the first move", async () => (await viewer.cards()).length === BOARDS);
  await ask("play");
  await wallIsLive(viewer);
  await largeBoardIsSteppedThrough(viewer);
  await recoversFromOutages(viewer, proxy);
  await checksOtherViews(context);
  await playersHavePages(context);
  await viewsFitTheirWindow(context);
  await outcomesAreTrue(context);
  await longNamesFit(context);
  await panelsAndSearch(context);
  await linksHavePreviews(context);
  await filtersPersist(viewer);
  await nothingPrivateIsServed();
  await filesAreEnough(context);
  await ask("leave");
  await everyGameIsRight(viewer);
  await viewer.close();
} catch (error) {
  console.error(error);
  process.exitCode = 1;
} finally {
  await context.close();
  process.exit();
}
