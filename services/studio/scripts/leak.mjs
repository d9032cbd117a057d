// node scripts/leak.mjs http://127.0.0.1:5001 60 100
// What pages that stay open hold on to: for so many minutes, so many events a second are shown live, and each
// minute the memory that is left after a garbage collection is read from the browser, of every page.
// Events are counted by a stream of this script's own; the rate is reached by starting more or fewer instances,
// which stay in the database: use a server for this alone, such as `staunch dev --data leak`.

import { removeMade } from "../tests/browser/data.mjs";
import { open } from "../tests/browser/page.mjs";
import { enter, signedIn, studioOf, userOf } from "../tests/browser/world.mjs";

const [, , given = "http://127.0.0.1:5001", minutes = "60", rate = "100"] = process.argv;
const server = given.replace(/\/$/, "");
const { studio, proxy } = await studioOf(server);
const user = userOf();
const call = await signedIn(server, user);
const model = {
  definitionId: "leak-studio",
  name: "Leak",
  root: {
    id: "line",
    type: "Elsa.WriteLine",
    text: { typeName: "String", expression: { type: "Literal", value: "x" } },
  },
};
const waits = {
  definitionId: "leak-studio-waits",
  name: "Leak waits",
  root: {
    id: "wait",
    type: "Elsa.Event",
    eventName: { typeName: "String", expression: { type: "Literal", value: "LeakNever" } },
  },
};
await call("POST", "/workflow-definitions", { model, publish: true });
await call("POST", "/workflow-definitions", { model: waits, publish: true });
const { workflowInstanceId } = await call("POST", "/workflow-definitions/leak-studio-waits/dispatch", {});

const eyes = await open(new URL(studio).origin, "shots");
await eyes.page.goto(`${studio}/`);
await enter(eyes.page, user);
const PAGES = ["/", "/instances", `/instances/${workflowInstanceId}`, "/incidents", "/cluster"];
const pages = [];
for (const path of PAGES) {
  const page = path === "/" ? eyes.page : await eyes.context.newPage();
  await page.goto(`${studio}${path}`);
  const client = await eyes.context.newCDPSession(page);
  await client.send("HeapProfiler.enable");
  pages.push({ path: path.replace(workflowInstanceId, "…"), page, client, seen: [] });
}

let heard = 0;
const listening = new AbortController();
const authorization = user
  ? { Authorization: `Bearer ${(await call("POST", "/identity/login", user)).accessToken}` }
  : {};
const live = await fetch(`${server}/elsa/api/events`, { headers: authorization, signal: listening.signal });
if (!live.ok) throw new Error(`/events answers ${live.status}`);
const counted = (async () => {
  const decoder = new TextDecoder();
  for await (const part of live.body) heard += decoder.decode(part).split("\ndata:").length - 1;
})().catch(() => undefined);

/** What is left in a page after its garbage is collected. */
async function held({ client }) {
  await client.send("HeapProfiler.collectGarbage");
  const { usedSize } = await client.send("Runtime.getHeapUsage");
  const { nodes, jsEventListeners } = await client.send("Memory.getDOMCounters");
  return { bytes: usedSize, nodes, listeners: jsEventListeners };
}

const mb = (bytes) => (bytes / 1e6).toFixed(1);
const began = Date.now();
const end = began + Number(minutes) * 60_000;
let perSecond = Math.max(1, Math.round(Number(rate) / 4));
let [before, at, looked] = [0, began, began];
try {
  console.log(
    `| minute | events a second | ${PAGES.map((path) => `${path.replace(workflowInstanceId, "…")} MB`).join(" | ")} | nodes | listeners |`,
  );
  console.log(`|---|---|${PAGES.map(() => "---|").join("")}---|---|`);
  while (Date.now() < end) {
    const next = Date.now() + 1000;
    await call("POST", "/workflow-definitions/leak-studio/bulk-dispatch", { count: perSecond });
    if (Date.now() - at > 10_000) {
      const heardPerSecond = ((heard - before) * 1000) / (Date.now() - at);
      if (heardPerSecond > 0)
        perSecond = Math.max(1, Math.min(100, Math.round((perSecond * Number(rate)) / heardPerSecond)));
      [before, at] = [heard, Date.now()];
    }
    if (Date.now() - looked > 60_000) {
      looked = Date.now();
      for (const page of pages) page.seen.push(await held(page));
      const last = pages.map(({ seen }) => seen.at(-1));
      const sum = (name) => last.reduce((all, one) => all + one[name], 0);
      const minute = Math.round((looked - began) / 60_000);
      const speed = ((heard * 1000) / (looked - began)).toFixed(0);
      console.log(
        `| ${minute} | ${speed} | ${last.map(({ bytes }) => mb(bytes)).join(" | ")} | ${sum("nodes")} | ${sum("listeners")} |`,
      );
    }
    await new Promise((resolve) => setTimeout(resolve, Math.max(0, next - Date.now())));
  }
  console.log(`\n${heard} events. After ten minutes and at the end, the least of five readings each:`);
  for (const { path, seen } of pages) {
    const least = (part) => Math.min(...part.map(({ bytes }) => bytes));
    if (seen.length < 10) continue;
    console.log(`- ${path}: ${mb(least(seen.slice(5, 10)))} MB, ${mb(least(seen.slice(-5)))} MB`);
  }
} finally {
  listening.abort();
  await counted;
  await call("POST", `/cancel/workflow-instances/${workflowInstanceId}`, {});
  await removeMade(call, [model.definitionId, waits.definitionId]);
  await eyes.browser.close();
  proxy?.close();
  proxy?.closeAllConnections();
}
for (const one of [...new Set(eyes.wrong)]) console.error(one);
if (eyes.wrong.length > 0) process.exitCode = 1;
