// An operator enters the results of a round at the desk in chromium, and begins the next one.
//
//   node round.mjs ADDRESS USER PASSWORD VIEWER PASSWORD [PROFILE]
//
// Round 1 and round 2 of the desk at ADDRESS must have twelve tables each. Table 1 must have a board, whose game is over
// without a result after at least ten plies, and on which other games follow; the other tables must have none. When the
// script prints "restart", the caller must stop kiebitz and start it again. Needs viewer.mjs, playwright-core and
// axe-core in the same folder: see npm.rs.

import assert from "node:assert/strict";
import fs from "node:fs";
import os from "node:os";
import path from "node:path";
import { Viewer, browser, eventually, until } from "./viewer.mjs";

const [address, user, password, guest, secret, profile = fs.mkdtempSync(path.join(os.tmpdir(), "round-"))] = process.argv.slice(2);
const LONGEST = 900_000;
const TABLES = 12;

let viewer;
let page;

async function text(locator) {
  return (await locator.first().textContent()) ?? "";
}

async function assertUsable(what) {
  await eventually(async () => assert.equal(await viewer.isTooWide(), false, `${what} is too wide`));
  await eventually(async () => assert.deepEqual(await viewer.barriers(), [], what));
}

async function logIn(name, word) {
  await until("the form", () => page.locator(".login").isVisible());
  await page.locator("[name=user]").fill(name);
  await page.locator("[name=password]").fill(word);
  await page.locator(".login button").click();
  await until("the bar", () => page.locator(".round-name").isVisible());
}

function row(table) {
  return page.locator(".result-row").nth(table - 1);
}

function choice(table, label) {
  return row(table).locator(".choice", { hasText: label });
}

async function isPressed(table, label) {
  return (await choice(table, label).getAttribute("aria-pressed")) === "true";
}

function focused() {
  return page.evaluate(() => document.activeElement.getAttribute("aria-label") ?? "");
}

async function untilEntered(count) {
  await until(`${count} results`, async () => (await text(page.locator(".sheet-summary"))) === `${count} of ${TABLES} results`);
}

/** The pieces of table 1 were set up again, which leaves a task that leads to the table's results. */
async function findsMissingResult() {
  await eventually(async () => assert.match(await text(page.locator(".round-name")), /Round 1/));
  const line = page.locator(".needs .line", { hasText: "Result missing" });
  await until("the task", async () => (await line.count()) === 1);
  await eventually(async () => assert.match(await text(line), /Table 1.*Adler, Jonas – Berg, Ines.*set up again/s));
  await eventually(async () => assert.match(await text(page.locator(".round-missing")), /1 result missing/));
  await eventually(async () => assert.match(await text(page.locator(".round-finished")), /^1 of 12 finished/));
  await eventually(async () => assert.match(await text(page.locator(".round-fact", { hasText: "No board" })), /\+\d/, "more tables than are named"));
  await assertUsable("the desk with a round");
  await line.click();
  await until("the table", async () => /^Table 1\./.test(await focused()));
  assert.match(page.url(), /#\/results\/1\/1$/);
  await eventually(async () => assert.equal(await page.locator(".result-row").count(), TABLES));
  await eventually(async () => assert.match(await text(page.locator(".byes .bye-row")), /Zorn, Ute/));
  await eventually(async () => assert.match(await text(row(1).locator(".seen-there")), /pieces set up again/));
  await eventually(async () => assert.match(await text(row(2).locator(".seen-there")), /no board/));
}

/** Enters all results with twelve taps or keys, on one page. */
async function entersAll() {
  await eventually(async () => assert.equal(await page.locator(".choice[aria-pressed=true]").count(), 0, "nothing is chosen beforehand"));
  const at = page.url();
  await page.keyboard.press("1");
  await until("the result of table 1", () => isPressed(1, "1–0"));
  await page.keyboard.press("ArrowDown");
  await eventually(async () => assert.match(await focused(), /^Table 2\./));
  await page.keyboard.press("5");
  await page.keyboard.press("ArrowDown");
  await page.keyboard.press("0");
  for (let table = 4; table <= TABLES; table += 1) {
    const label = ["1–0", "½–½", "0–1"][table % 3];
    await choice(table, label).click();
  }
  await untilEntered(TABLES);
  for (const [table, label] of [[2, "½–½"], [3, "0–1"], [4, "½–½"], [5, "0–1"], [12, "1–0"]]) {
    await eventually(async () => assert.ok(await isPressed(table, label), `${table}`));
  }
  assert.equal(page.url(), at);
  await eventually(async () => assert.match(await text(page.locator(".round-finished")), /12 of 12 finished/));
  await eventually(async () => assert.equal(await page.locator(".round-missing").isVisible(), false));
  await assertUsable("the results");
}

/** A clock that has stood for five minutes makes a result missing, and a running one does not. */
async function judgesStoppedClocks() {
  const found = await page.evaluate(async () => {
    const { facts, missingLines } = await import("/desk/round.js");
    const since = Date.parse("2026-11-21T15:02:00Z");
    const table = { table: 7, white: "Adler", black: "Berg", result: null, reason: null, game: "g", board: "b", played: true, over: false, ended: null };
    const round = { round: 2, begun: "2026-11-21T09:20:00Z", tables: new Map([[7, table]]) };
    const status = { board: "b", stands_at: 7, connected: true, incidents: [], game: { game: "g", ended: null } };
    const at = (stoppedSince, minutes) => {
      const source = { rounds: new Map([[2, round]]), boards: new Map([["b", { ...status, stoppedSince }]]), pairings: { round: 2 } };
      const now = since + minutes * 60000;
      return [facts(round, source.boards, now).missing.length, missingLines(source, now).map(({ href, text }) => `${href} ${text}`)];
    };
    return { running: at(null, 60), short: at(since, 4), long: at(since, 6) };
  });
  assert.deepEqual(found.running, [0, []]);
  assert.deepEqual(found.short, [0, []]);
  assert.equal(found.long[0], 1);
  assert.match(found.long[1][0], /^#\/results\/2\/7 Round 2, Adler – Berg\. The clock has stood since/);
}

/** After its game, a table keeps names and result in the room although another game is played on its board. */
async function roomShowsRound() {
  await viewer.go("#/");
  const seat = page.locator(".seat").first();
  await until("the result", async () => /^1–0 · another game: \d+\./.test(await text(seat.locator(".last"))));
  await eventually(async () => assert.equal(await text(seat.locator(".white .name")), "Adler, Jonas"));
  await seat.locator("a").click();
  await until("the players", async () => (await text(page.locator(".opened .names"))) === "Adler, Jonas – Berg, Ines");
  await viewer.go("#/results");
  const entries = await page.evaluate(async () => {
    const { details } = await import("/desk/versions.js");
    return [{ result: "1-0", reason: "kings", signed: true }, { result: "*" }].map((given) => details({ ...given, round: 1, table: 2 }, "set_result"));
  });
  assert.deepEqual(entries, ["1–0, the kings were put in the centre, signed", "no result"]);
  // What the board saw in the game of the round is now among the past games.
  await eventually(async () => assert.match(await row(1).locator(".seen-there").getAttribute("href"), /^#\/game\//));
}

/** A board that is lost before its game begins is a task of the round, and only of a round that has begun. */
async function missesBoards() {
  const found = await page.evaluate(async () => {
    const [{ Memory, lines }, { awaits }] = await Promise.all([import("/desk/lines.js"), import("/desk/round.js")]);
    const table = { table: 7, white: "Adler", black: "Berg", result: null, game: null, played: false, over: false };
    const status = { board: "b", stands_at: 7, table: 7, connected: false, gone_since: "2026-11-21T09:00:00Z", incidents: [], going: [], game: null };
    const spare = { ...status, board: "spare", connected: true };
    const at = (change, others = []) => {
      const round = { round: 2, begun: "2026-11-21T09:20:00Z", tables: new Map([[7, { ...table, ...change }]]), ...change.round };
      const boards = new Map([status, ...others].map((one) => [one.board, one]));
      const source = { rounds: new Map([[2, round]]), pairings: { round: 2, tables: [] }, boards };
      const all = lines([status], new Memory(), Date.parse("2026-11-21T10:00:00Z"), [], (one) => awaits(one, source));
      return all.map(({ kind, severity, board }) => [kind, severity, board]);
    };
    return [at({}), at({ round: { begun: null } }), at({ result: "1-0" }), at({ over: true }), at({}, [spare])];
  });
  assert.deepEqual(found, [[["board_disconnected", "advice", "b"]], [], [], [], []]);
}

/** While a round is prepared, the list says which steps of the set-up are not in order. */
async function preparesRound() {
  const found = await page.evaluate(async () => {
    const { lacking } = await import("/desk/before.js");
    const fine = { board: "b", connected: true, stands_at: 7, lever: "left", white_side: "left", clock_fits: true, squares: "3".repeat(64), game: null };
    const table = { table: 7, result: null, played: false };
    const at = (change, { begun = null, played = false, paired = true, isHub = false } = {}) => {
      const rounds = paired ? new Map([[1, { round: 1, begun, tables: new Map([[7, { ...table, played }]]) }]]) : new Map();
      const pairings = paired ? { round: 1, rounds: [1], tables: [table] } : { round: null, rounds: [], tables: [] };
      const boards = new Map(change ? [["b", { ...fine, ...change }]] : []);
      return lacking({ boards, rounds, pairings, hasRounds: true }, isHub);
    };
    return {
      fine: at({}),
      empty: at(null, { paired: false }),
      squares: at({ squares: null }),
      squaresOfHub: at({ squares: null, lever: null }, { isHub: true }),
      side: at({ white_side: null }),
      elsewhere: at({ stands_at: 8 }),
      begun: at({ white_side: null }, { begun: "2026-11-21T09:20:00Z" }),
      played: at({ white_side: null }, { played: true }),
      withoutRounds: at({ game: { ended: "2026-11-21T09:20:00Z" } }, { paired: false }),
    };
  });
  const [boards, squares] = [["boards"], ["squares"]];
  assert.deepEqual(found, {
    fine: [],
    empty: ["boards", "pairings"],
    squares,
    squaresOfHub: [],
    side: boards,
    elsewhere: boards,
    begun: [],
    played: [],
    withoutRounds: [],
  });
}

/** If a round begins on some boards only, the form shows the error. It is folded away once all have begun the last round. */
async function reportsBoardThatRefuses() {
  const found = await page.evaluate(async () => {
    const [{ Begin }, { loadTexts }] = await Promise.all([import("/desk/begin.js"), import("/desk/words.js")]);
    await loadTexts("setup");
    const at = async (refuses) => {
      const boards = ["a", "b"].map((board, table) => ({ board, connected: true, stands_at: table + 1, lever: null, clock_fits: null, game: null }));
      const round = { round: 1, begun: null, tables: new Map() };
      const source = {
        boards: new Map(boards.map((status) => [status.board, status])),
        pairings: { round: 1, rounds: [1], tables: [{ table: 1 }, { table: 2 }] },
        rounds: new Map([[1, round]]),
        async command(board) {
          round.begun = "2026-11-21T09:20:00Z";
          return board === refuses ? { ok: false, note: null, error: "busy" } : { ok: true, note: null, error: null, kept: true };
        },
      };
      const begin = new Begin(source, () => {}, { isHub: true });
      begin.update(true);
      const label = begin.deed.button.textContent;
      await begin.deed.send({ do: "start_round", round: 1 });
      begin.update();
      return [label, begin.form.open, begin.deed.answer.textContent];
    };
    return [await at("b"), await at(null)];
  });
  assert.deepEqual(found[0].slice(0, 2), ["Begin round 1", true]);
  assert.match(found[0][2], /b: busy/);
  assert.deepEqual(found[1], ["Begin round 1", false, "Done: Round 1 has begun. Boards: 2."]);
}

/** Many results that only the boards have shown are one line, which leads to the sheet. */
async function groupsShownResults() {
  const found = await page.evaluate(async () => {
    const { Memory, keysOf, lines } = await import("/desk/lines.js");
    const game = { result: "1-0", reason: "kings", confirmed: false, ended: "2026-11-21T12:00:00Z", moves: [], players: { round: 2 } };
    const status = { connected: true, port: null, isShared: false, incidents: [], going: [], standing_ms: null, made: [] };
    const all = (count) => {
      const of = Array.from({ length: count }, (_, at) => ({ ...status, board: `b${at}`, table: at + 1, stands_at: at + 1, game: { ...game, game: `g${at}` } }));
      return lines(of, new Memory(), Date.parse("2026-11-21T12:01:00Z")).map((one) => [one.hall ?? null, one.href ?? null, keysOf(one).length]);
    };
    return [all(4), all(5)];
  });
  assert.deepEqual(found, [Array(4).fill([null, null, 1]), [["Round 2: 5 tables", "#/results/2", 5]]]);
}

/** The sheet says what a board has seen, and that a board whose game has not begun is there. */
async function describesBoards() {
  const found = await page.evaluate(async () => {
    const { observed } = await import("/desk/results.js");
    const at = new Date(2026, 10, 21, 15, 2).toISOString();
    const none = { table: 7, game: null, board: null, seen: null, over: false };
    const boards = new Map([["b", { board: "b", connected: true, stands_at: 7, game: null }]]);
    const of = (table, known = boards) => observed({ ...none, ...table }, known);
    return [of({ seen: { result: "1-0", reason: "kings", at } }), of({}), of({}, new Map())];
  });
  assert.match(found[0], /^kings: 1–0, .*15:02$/);
  assert.deepEqual(found.slice(1), ["", "no board"]);
}

/** Once the next round has begun, its players are shown at a table, although the last game there was of the round before. */
async function seatsNextPlayers() {
  const found = await page.evaluate(async () => {
    const { seated } = await import("/desk/round.js");
    const game = { game: "g", ended: "2026-11-21T12:00:00Z", players: { white: "Adler", black: "Berg", round: 1 } };
    const table = { table: 7, white: "Cohn", black: "Dorn", result: null, game: null };
    const at = (begun) => {
      const rounds = new Map([[2, { round: 2, begun, tables: new Map([[7, table]]) }]]);
      const { players, isAwaited, earlier } = seated({ stands_at: 7, game }, { rounds, pairings: { round: 2, tables: [] } });
      return [players.white, isAwaited, earlier];
    };
    return [at(null), at("2026-11-21T14:00:00Z")];
  });
  assert.deepEqual(found, [["Adler", false, 1], ["Cohn", true, null]]);
}

async function changesResults() {
  await row(12).getByRole("button", { name: "Undo" }).click();
  await untilEntered(TABLES - 1);
  await choice(12, "+/–").click();
  await untilEntered(TABLES);
  await eventually(async () => assert.ok(await isPressed(12, "+/–")));
  await eventually(async () => assert.equal(await isPressed(12, "1–0"), false, "a forfeit is another result"));
  // An entered result is replaced only after a question.
  await choice(2, "0–1").click();
  const question = row(2).locator(".question");
  await eventually(async () => assert.match(await text(question), /Replace ½–½ by 0–1\?/));
  await question.getByRole("button", { name: "No" }).click();
  await eventually(async () => assert.ok(await isPressed(2, "½–½")));
  // The board shows no result at table 1, so nothing differs.
  await eventually(async () => assert.equal(await row(1).locator(".chip").isVisible(), false));
  await choice(3, "signed").click();
  await until("the signature", () => isPressed(3, "signed"));
  await eventually(async () => assert.match(await text(row(3).locator(".entered-by")), /^chief, .* · signed \d\d:\d\d$/));
  await choice(5, "no result").click();
  await untilEntered(TABLES - 1);
}

async function survivesRestart() {
  const begun = await text(page.locator(".round-begun"));
  assert.match(begun, /^begun \d\d:\d\d$/);
  viewer.ignoreNetworkErrors(true);
  const isStale = () => page.evaluate(() => document.body.classList.contains("stale"));
  console.log("restart");
  await until("the connection is lost", isStale);
  await until("it is back", async () => !(await isStale()));
  await viewer.go("#/results/1");
  await untilEntered(TABLES - 1);
  viewer.ignoreNetworkErrors(false);
  await eventually(async () => assert.ok(await isPressed(1, "1–0")));
  await eventually(async () => assert.ok(await isPressed(3, "signed"), "the signature stays"));
  await eventually(async () => assert.ok(await isPressed(12, "+/–")));
  await eventually(async () => assert.equal(await text(page.locator(".round-begun")), begun));
}

/** The form that begins a round names the missing result, and selects round 2. */
async function beginsNext() {
  await page.locator(".begin-round").click();
  const dialog = page.locator("dialog[open]");
  await eventually(async () => assert.equal(await dialog.locator("select").inputValue(), "2"));
  await dialog.getByRole("button", { name: "Begin round 2" }).click();
  await eventually(async () => assert.match(await text(dialog.locator(".question")), /1 game of round 1 has no result\..*Begin round 2 now\?/));
  await assertUsable("the question");
  await eventually(async () => assert.equal(await dialog.locator(".enter-them").getAttribute("href"), "#/results/1/5"));
  await eventually(async () => assert.ok(await dialog.locator(".enter-them").evaluate((link) => link === document.activeElement), "it does not begin by mistake"));
  // The page ignores a confirmation that comes too quickly.
  await page.waitForTimeout(400);
  await dialog.getByRole("button", { name: "Begin anyway" }).click();
  await until("round 2", async () => (await text(page.locator(".round-name"))) === "Round 2");
  await until("the form is closed", async () => (await dialog.count()) === 0);
  await eventually(async () => assert.ok(await page.locator(".begin-round").evaluate((button) => button === document.activeElement)));
  const before = page.locator(".round-before");
  await eventually(async () => assert.match(await text(before), /1 result missing in round 1/));
  await before.click();
  await until("table 5 of round 1", async () => /^Table 5\./.test(await focused()));
  await page.keyboard.press("5");
  await untilEntered(TABLES);
  await until("nothing is missing", async () => !(await before.isVisible()));
}

/** Controls that are too small for a finger. A link may be larger than its text. */
function smallTargets() {
  return page.evaluate(() => {
    const all = [...document.querySelectorAll("a[href], button, select, summary, input:not([type=checkbox], [type=radio])")];
    const isLarger = (one) => getComputedStyle(one, "::after").position === "absolute" || one.matches(".open");
    const shown = all.filter((one) => one.checkVisibility() && !isLarger(one)).map((one) => [one.outerHTML.slice(0, 120), one.getBoundingClientRect()]);
    return shown.filter(([, { width, height }]) => width > 0 && (width < 43.9 || height < 43.9)).map(([html, { width, height }]) => `${width} x ${height}: ${html}`);
  });
}

async function fitsPhone() {
  await page.setViewportSize({ width: 390, height: 844 });
  await assertUsable("the results on a phone");
  const unfold = row(5).locator(".unfold");
  await eventually(async () => assert.equal(await choice(5, "–/+").isVisible(), false));
  await unfold.click();
  await eventually(async () => assert.ok(await choice(5, "–/+").isVisible()));
  await assertUsable("all results on a phone");
  for (const [hash, ready] of [["#/results/1", ".result-row"], ["#/", ".tables .seat"], ["#/setup", ".sheet"]]) {
    await viewer.go(hash);
    await until(hash, () => page.locator(ready).first().isVisible());
    await eventually(async () => assert.deepEqual(await smallTargets(), [], hash));
  }
  await viewer.go("#/results/1");
  await page.setViewportSize({ width: 1366, height: 768 });
}

async function viewerOnlyLooks() {
  await page.getByRole("button", { name: "Log out" }).click();
  await logIn(guest, secret);
  await viewer.go("#/results/1");
  await untilEntered(TABLES);
  await eventually(async () => assert.equal(await page.locator(".result-row .choice").count(), 0));
  await eventually(async () => assert.equal(await page.locator(".begin-round").count(), 0));
  await eventually(async () => assert.equal(await text(row(12).locator(".shown-result")), "+/–"));
  await page.keyboard.press("0");
  await eventually(async () => assert.equal(await text(row(12).locator(".shown-result")), "+/–"));
  await assertUsable("the results for a viewer");
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
  await logIn(user, password);
  viewer.ignoreNetworkErrors(false);
  await findsMissingResult();
  await entersAll();
  await roomShowsRound();
  await judgesStoppedClocks();
  await missesBoards();
  await preparesRound();
  await reportsBoardThatRefuses();
  await groupsShownResults();
  await describesBoards();
  await seatsNextPlayers();
  await changesResults();
  await survivesRestart();
  await beginsNext();
  await fitsPhone();
  viewer.ignoreNetworkErrors(true);
  await viewerOnlyLooks();
  await viewer.close();
} catch (error) {
  console.error(error);
  process.exitCode = 1;
} finally {
  await context.close();
  process.exit();
}
