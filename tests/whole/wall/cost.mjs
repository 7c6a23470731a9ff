// Measures what the wall costs a spectator: node cost.mjs ADDRESS [MINUTES] [WIDTH], while games are on. Prints a line
// for each minute. It is run by hand, because the figures depend on the machine.

import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { browser } from "./viewer.mjs";

const [address, minutes = "10", width = "1366"] = process.argv.slice(2);

const context = await browser(mkdtempSync(path.join(tmpdir(), "kiebitz-load-")));
const page = await context.newPage();
await page.setViewportSize({ width: Number(width), height: 800 });
const cdp = await context.newCDPSession(page);
// CPU time, so that other programs on the machine do not count.
await cdp.send("Performance.enable", { timeDomain: "threadTicks" });
await cdp.send("Network.enable");
let received = 0;
let stream;
cdp.on("Network.requestWillBeSent", ({ requestId, type }) => type === "EventSource" && (stream = requestId));
// The stream, which is not compressed, never ends.
cdp.on("Network.dataReceived", ({ requestId, dataLength }) => requestId === stream && (received += dataLength));
cdp.on("Network.loadingFinished", ({ requestId, encodedDataLength }) => requestId !== stream && (received += encodedDataLength));

async function metrics() {
  const { metrics: list } = await cdp.send("Performance.getMetrics");
  return Object.fromEntries(list.map(({ name, value }) => [name, value]));
}

await page.goto(address);
await page.waitForSelector(".card .board");
await page.waitForTimeout(5000);
console.log(`first load: ${Math.round(received / 1000)} kB`);
for (let minute = 1; minute <= Number(minutes); minute += 1) {
  const [before, bytes, start] = [await metrics(), received, Date.now()];
  await page.waitForTimeout(60_000);
  const after = await metrics();
  const seconds = (Date.now() - start) / 1000;
  const perSecond = (name) => Math.round(((after[name] - before[name]) * 1000) / seconds);
  await cdp.send("HeapProfiler.collectGarbage");
  const { JSHeapUsedSize: heap, Nodes: nodes } = await metrics();
  console.log(
    `minute ${minute}: main thread ${perSecond("TaskDuration")} ms/s (script ${perSecond("ScriptDuration")}, ` +
      `style ${perSecond("RecalcStyleDuration")}, layout ${perSecond("LayoutDuration")}), ` +
      `heap ${(heap / 1e6).toFixed(1)} MB, ${nodes} nodes, ${Math.round((received - bytes) / 1000)} kB received`,
  );
}
await context.close();
