// A viewer of a page, who collects its errors.

import assert from "node:assert/strict";
import { createRequire } from "node:module";
import { chromium } from "playwright-core";

const AXE = createRequire(import.meta.url).resolve("axe-core/axe.min.js");

/** Limit of each wait in ms, far above any expected duration on a busy machine. Only failing scripts wait this long. */
const PATIENCE = 180_000;

export async function browser(profile) {
  const context = await chromium.launchPersistentContext(profile, {
    executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium",
    headless: true,
    locale: "en-GB",
    args: [
      "--no-sandbox",
      "--disable-gpu",
      "--disable-quic",
      "--no-first-run",
      "--disable-background-networking",
      "--disable-component-update",
      "--disable-sync",
      "--disable-dev-shm-usage",
    ],
  });
  context.setDefaultTimeout(PATIENCE);
  return context;
}

/** Waits until `wanted` is true. An exception counts as false. */
export async function until(what, wanted) {
  try {
    await eventually(async () => assert.ok(await wanted()));
  } catch (error) {
    throw new Error(`not in time: ${what}`, { cause: error });
  }
}

/** Repeats assertions until they hold, as a page may show one event later in one place than in another. */
export async function eventually(check) {
  const end = Date.now() + PATIENCE;
  for (;;) {
    try {
      return await check();
    } catch (error) {
      if (Date.now() > end) throw error;
    }
    await new Promise((done) => setTimeout(done, 100));
  }
}

/** Converts a time such as "1:02:11" to seconds. */
function seconds(text) {
  return text.split(":").reduce((sum, part) => sum * 60 + Number(part), 0);
}

export class Viewer {
  static async open(context, address, width, dark) {
    const viewer = new Viewer();
    viewer.page = await context.newPage();
    viewer.wrong = [];
    const { page } = viewer;
    await page.setViewportSize({ width, height: width > 2000 ? 2160 : 800 });
    await page.emulateMedia({ colorScheme: dark ? "dark" : "light" });
    page.on("pageerror", (error) => viewer.wrong.push(error.stack));
    page.on("console", (message) => {
      const isNetwork = message.text().startsWith("Failed to load resource") || message.text().includes("net::ERR_");
      // Errors of scripts have a text. On a busy machine, the browser sometimes reports one of its own without.
      const counts = message.type() === "error" && message.text() !== "";
      if (counts && !(viewer.ignoresNetworkErrors && isNetwork)) viewer.wrong.push(message.text());
    });
    await page.addInitScript(() => {
      addEventListener("securitypolicyviolation", (event) => console.error(`policy: ${event.violatedDirective}`));
    });
    await page.goto(address);
    return viewer;
  }

  /** Sets whether the browser's messages about failed requests are expected. */
  ignoreNetworkErrors(ignoresNetworkErrors) {
    this.ignoresNetworkErrors = ignoresNetworkErrors;
  }

  /** Goes to another view of the page. */
  async go(hash) {
    await this.page.evaluate((to) => {
      location.hash = to;
    }, hash);
  }

  async close() {
    await this.page.close();
    assert.deepEqual(this.wrong, []);
  }

  async cards() {
    const read = (all) =>
      all.map((card) => {
        const text = (selector) => card.querySelector(selector).textContent;
        return { table: text(".table"), last: text(".last"), white: text(".white .name"), clock: text(".white .clock") };
      });
    const cards = await this.page.locator(".card").evaluateAll(read);
    return cards.map((card) => ({ ...card, whiteSeconds: seconds(card.clock) }));
  }

  /** The running clocks, by board and side. */
  async running() {
    const read = (all) =>
      all.map((side) => {
        const card = side.closest(".card");
        const key = `${card.querySelector(".table").textContent} ${side.className}`;
        return [key, side.querySelector(".clock").textContent, card.querySelector(".last").textContent];
      });
    const clocks = await this.page.locator(".card .side.runs").evaluateAll(read);
    return Object.fromEntries(clocks.map(([key, clock, last]) => [key, { seconds: seconds(clock), last }]));
  }

  /** The moves of the large board. */
  async moves() {
    const read = (all) =>
      all.map((move) => {
        const left = /^\d[\d:]*/.exec(move.querySelector(".times").textContent);
        return { san: move.querySelector("b").textContent, left: left && left[0] };
      });
    return this.page.locator(".large .move").evaluateAll(read);
  }

  /** The pieces drawn on the large board, as the placement of a FEN. */
  async placement() {
    const pieces = await this.page.locator(".large .board piece").evaluateAll((all) =>
      all.filter((piece) => !piece.classList.contains("fading")).map((piece) => [piece.cgKey, piece.className]),
    );
    const at = new Map(pieces);
    const letters = { pawn: "p", knight: "n", bishop: "b", rook: "r", queen: "q", king: "k" };
    const letter = (name = "") => {
      const [, role] = Object.entries(letters).find(([piece]) => name.includes(piece)) ?? [];
      return role && name.includes("white") ? role.toUpperCase() : role ?? "1";
    };
    const ranks = [8, 7, 6, 5, 4, 3, 2, 1].map((rank) =>
      [..."abcdefgh"].map((file) => letter(at.get(`${file}${rank}`))).join(""),
    );
    return ranks.join("/").replace(/1+/g, (empty) => empty.length);
  }

  /** Whether the page is wider than the window. */
  isTooWide() {
    return this.page.evaluate(() => document.documentElement.scrollWidth > innerWidth);
  }

  /** The accessibility violations that axe-core finds. */
  async barriers() {
    // Evaluated by the browser, as the content security policy forbids the page to load other scripts.
    const cdp = await this.page.context().newCDPSession(this.page);
    const { readFileSync } = await import("node:fs");
    await cdp.send("Runtime.evaluate", { expression: readFileSync(AXE, "utf8") });
    const { violations } = await this.page.evaluate(() => globalThis.axe.run());
    return violations.map(({ id, nodes }) => `${id}: ${nodes.slice(0, 3).map(({ html }) => html.slice(0, 150)).join(" ")}`);
  }
}
