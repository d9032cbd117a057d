// node scripts/bench.mjs http://127.0.0.1:5001
// How much the browser works for Studio: drag and zoom among 500 activities, 1,000 opened, a long list scrolled.
// The figures come from the browser's own trace, by the clock of its main thread.

import { removeMade } from "../tests/browser/data.mjs";
import { open } from "../tests/browser/page.mjs";
import { enter, signedIn, studioOf, userOf } from "../tests/browser/world.mjs";
import { framesOf } from "./trace.mjs";

const [, , given = "http://127.0.0.1:5001"] = process.argv;
const server = given.replace(/\/$/, "");
const LISTED = 100_000;
const CATEGORIES = [
  "-*",
  "devtools.timeline",
  "disabled-by-default-devtools.timeline",
  "devtools.timeline.frame",
  "disabled-by-default-devtools.timeline.frame",
  "toplevel",
  "disabled-by-default-lighthouse",
  "v8",
];

/** A flowchart of many activities, in rows of 25, as one draws it. */
function wide(count) {
  const id = (at) => `a${at}`;
  return {
    definitionId: `bench-studio-${count}`,
    name: `Bench ${count}`,
    root: {
      id: "flow",
      type: "Elsa.Flowchart",
      activities: Array.from({ length: count }, (_, at) => ({
        id: id(at),
        name: `Step ${at}`,
        type: "Elsa.WriteLine",
        text: { typeName: "String", expression: { type: "Literal", value: `step ${at}` } },
        metadata: { designer: { position: { x: (at % 25) * 272, y: Math.floor(at / 25) * 104 } } },
      })),
      connections: Array.from({ length: count - 1 }, (_, at) => ({
        source: { activity: id(at), port: "Done" },
        target: { activity: id(at + 1), port: "In" },
      })),
    },
  };
}

async function traced(eyes, act) {
  await eyes.browser.startTracing(eyes.page, { categories: CATEGORIES });
  await act();
  return framesOf(await eyes.browser.stopTracing());
}

const nextFrame = (page) => page.evaluate(() => new Promise((resolve) => requestAnimationFrame(resolve)));

async function drag({ page }) {
  const box = await page.locator(".react-flow__node").nth(3).boundingBox();
  const [x, y] = [box.x + box.width / 2, box.y + box.height / 2];
  await page.mouse.move(x, y);
  await page.mouse.down();
  for (let at = 1; at <= 120; at += 1) {
    await page.mouse.move(x + at * 3, y + Math.sin(at / 8) * 90);
    await nextFrame(page);
  }
  await page.mouse.up();
}

async function zoom({ page }) {
  await page.mouse.move(700, 450);
  for (let at = 0; at < 120; at += 1) {
    await page.mouse.wheel(0, at < 60 ? 40 : -40);
    await nextFrame(page);
  }
}

/** A list of many instances, answered in the browser: what is measured is the page. */
async function fill(page) {
  const at = Date.parse("2026-01-01T00:00:00Z");
  const row = (number) => ({
    id: number.toString(16).padStart(16, "0"),
    definitionId: "bench",
    definitionVersionId: "bench-1",
    version: 1,
    status: "Finished",
    subStatus: ["Finished", "Suspended", "Faulted"][number % 3],
    name: `Order ${number}`,
    correlationId: `order-${number}`,
    incidentCount: number % 3 === 2 ? 1 : 0,
    createdAt: new Date(at - number * 1000).toISOString(),
    updatedAt: new Date(at).toISOString(),
    finishedAt: new Date(at).toISOString(),
  });
  await page.route("**/workflow-instances/query", (route) => {
    const { page: part = 0, pageSize = 100, cursor } = route.request().postDataJSON();
    const from = cursor ? Number(cursor) : part * pageSize;
    const end = Math.min(from + pageSize, LISTED);
    const items = Array.from({ length: Math.max(0, end - from) }, (_, one) => row(from + one));
    return route.fulfill({
      json: { items, totalCount: LISTED, nextCursor: end < LISTED ? String(end) : null },
    });
  });
}

async function scroll({ page }) {
  const list = page.getByRole("region", { name: "Instances" });
  await list.hover();
  for (let at = 0; at < 150; at += 1) {
    await page.mouse.wheel(0, at < 100 ? 400 : 40_000);
    await nextFrame(page);
  }
}

const { studio, proxy } = await studioOf(server);
const user = userOf();
const call = await signedIn(server, user);
const eyes = await open(new URL(studio).origin, "shots");
const { page } = eyes;
const made = [500, 1000].map(wide);
const ms = (value) => value.toFixed(1);
const line = (name, { frames, mean, p95, worst, longest }) =>
  console.log(`| ${name} | ${frames} | ${ms(mean)} | ${ms(p95)} | ${ms(worst)} | ${ms(longest)} |`);
const editor = (count) => `${studio}/definitions/bench-studio-${count}/edit`;
const shown = () => page.locator(".react-flow__node").first().waitFor();
try {
  for (const model of made) await call("POST", "/workflow-definitions", { model, publish: false });
  await page.goto(`${studio}/`);
  await enter(page, user);
  await page.goto(editor(500));
  await shown();
  console.log("| | frames | mean ms | p95 ms | worst ms | longest task ms |\n|---|---|---|---|---|---|");
  line("500 activities, one dragged", await traced(eyes, () => drag(eyes)));
  line("500 activities, zoomed out and in", await traced(eyes, () => zoom(eyes)));
  await fill(page);
  await page.goto(`${studio}/instances`);
  await page.getByText("Order 3", { exact: true }).waitFor();
  line(`${LISTED.toLocaleString("en")} instances, scrolled`, await traced(eyes, () => scroll(eyes)));
  await page.unroute("**/workflow-instances/query");
  await page.goto(editor(1000));
  await shown();
  const began = performance.now();
  const { work } = await traced(eyes, async () => {
    await page.goto(editor(1000));
    await shown();
  });
  console.log(
    `\n1,000 activities opened: ${ms(work)} ms of work, ${ms(performance.now() - began)} ms by the clock on the wall, tracing included`,
  );
} finally {
  await removeMade(
    call,
    made.map((one) => one.definitionId),
  );
  await eyes.browser.close();
  proxy?.close();
  proxy?.closeAllConnections();
}
for (const one of [...new Set(eyes.wrong)]) console.error(one);
if (eyes.wrong.length > 0) process.exitCode = 1;
