// The way through what runs by itself: schedules, causes of failures, what the cluster holds.
import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { NIGHT } from "./data.mjs";
import { named, notice, rail } from "./find.mjs";

/** A schedule is looked at, paused, let go on, and started between its times. */
export async function schedules({ page, look }, { call }) {
  await rail(page, "Schedules").click();
  await named(page, "heading", "Schedules").waitFor();
  const row = page.getByRole("row").filter({ hasText: NIGHT });
  await row.waitFor();
  await look("schedules");
  // A time at night is on no axis of an hour: the shortest one that has it is shown.
  await page.getByRole("img", { name: /^Next times on one axis: 24 hours/ }).waitFor();
  await page.getByText("A line each 3 h; dotted: it goes on").waitFor();
  await named(page, "tab", "1 minute").click();
  await page.waitForURL(/span=minute/);
  const marks = page.getByRole("list", { name: "Marks of the axis" }).getByRole("listitem");
  assert.equal(await marks.count(), 7);
  assert.match(await marks.first().textContent(), /^\d\d:\d\d:\d\d$/);
  await look("schedules-minute");
  // On a phone there is room for few labels: none is over another one.
  await page.setViewportSize({ width: 390, height: 800 });
  await page.waitForFunction(() => {
    const labels = document.querySelectorAll('ol[aria-label="Marks of the axis"] > li');
    return labels.length > 1 && labels.length < 7;
  });
  const boxes = await Promise.all((await marks.all()).map((mark) => mark.boundingBox()));
  for (const [at, box] of boxes.slice(1).entries())
    assert.ok(boxes[at].x + boxes[at].width < box.x, JSON.stringify(boxes));
  await look("schedules-narrow");
  await page.setViewportSize({ width: 1440, height: 900 });
  await named(page, "tab", "7 days").click();
  await page.waitForURL(/span=week/);
  await row.getByRole("button").first().click();
  const panel = page.getByRole("complementary", { name: "Schedule" });
  await panel.getByText("Next times").waitFor();
  assert.equal(await panel.getByRole("list").getByRole("listitem").count(), 5);
  await look("schedule");
  await panel.getByText("From a terminal").click();
  for (const line of [
    /^staunch schedule pause /,
    /^staunch schedule trigger /,
    /^nats req staunch\.api\.http\.post\.schedules\./,
  ])
    await panel.getByText(line).first().waitFor();
  await panel.getByRole("button", { name: "Pause", exact: true }).click();
  await panel
    .getByText(/^Paused by|^paused$/i)
    .first()
    .waitFor();
  await panel.getByText("It fires again when it goes on.").waitFor();
  await look("schedule-paused");
  await panel.getByRole("button", { name: "Go on", exact: true }).click();
  await panel.getByText("Active", { exact: true }).waitFor();
  await panel.getByRole("button", { name: "Start now" }).click();
  await notice(page, "An instance was started.");
  await page.keyboard.press("Escape");
  const started = () => call("POST", "/workflow-instances/query", { definitionId: "browser-clock" });
  for (let tries = 0; (await started()).totalCount === 0; tries += 1) {
    assert.ok(tries < 100, "nothing was started");
    await page.waitForTimeout(100);
  }
}

/** Failures with one cause are one line, from which all their instances can be retried. */
export async function causes({ page, look }) {
  await rail(page, "Incidents").click();
  const cause = page.getByRole("button").filter({ hasText: "missingThing is not defined" }).first();
  await cause.waitFor();
  await look("incidents-causes");
  await cause.click();
  await page.getByRole("button", { name: /^Retry \d+ instances?$/ }).waitFor();
  await look("incidents-cause");
  await named(page, "button", "Retry the newest one").click();
  await notice(page, /It runs again|missingThing|not/);
  await page.keyboard.press("Escape");
}

/** What each activity did in the last hour, beside the graph. */
export async function lastHour({ page, look }, { studio }) {
  await page.goto(`${studio}/definitions/browser-approval?tab=hour`);
  const row = page.getByRole("row").filter({ hasText: "take" });
  await row.waitFor();
  await row.getByRole("button").click();
  await page.waitForURL(/activity=take/);
  await page.locator('.react-flow__node[data-id="take"]').getByText(/\d ×/).waitFor();
  await look("definition-hour");
}

/** The order of the demo: one press starts one, one press approves it. */
export async function tryIt({ page, look }, { studio, call, made }) {
  const { items } = await call(
    "GET",
    "/workflow-definitions?definitionIds=order-approval&versionOptions=Latest",
  );
  if (items.length === 0) {
    made.push("order-approval");
    const order = new URL("../../../staunch/examples/order-approval.json", import.meta.url);
    const text = await readFile(order, "utf8");
    await call("POST", "/workflow-definitions/import?publish=true", JSON.parse(text));
  }
  await page.goto(`${studio}/`);
  await named(page, "heading", "Try it").waitFor();
  await named(page, "button", "Start an order").click();
  await notice(page, /^Order \d+ is started:/);
  await look("home-try");
  await named(page, "button", "Approve the latest one that waits").click();
  // Pressed during the credit check, it is taken after that.
  await notice(page, /^(It is approved|The approval is sent, and taken after the credit check):/);
  await page.getByRole("status").getByRole("link").click();
  await page.getByText("Finished", { exact: true }).first().waitFor();
  await page.locator(".react-flow__node").filter({ hasText: "Return the decision" }).waitFor();
}

/** Failures with one cause are one line at home, too. */
export async function needs({ page, look }, { studio }) {
  await page.goto(`${studio}/`);
  const failing = page.locator('a[href$="/definitions/browser-broken"]');
  const cause = page.getByRole("listitem").filter({ has: failing });
  await cause.getByText(/^\d+ incidents in \d+ instances$/).waitFor();
  assert.equal(await cause.count(), 1);
  await look("home-causes");
  await cause.getByRole("link").first().click();
  await page.getByRole("button", { name: /^Retry \d+ instances?$/ }).waitFor();
  await page.keyboard.press("Escape");
}

/** What changed between two versions is marked in the graph, and has its names. */
export async function compared({ page, look }, { studio, call, made }) {
  const line = (id, text, displayText) => ({ id, type: "Elsa.WriteLine", text, metadata: { displayText } });
  const of = (...activities) => ({
    definitionId: "browser-compared",
    name: "Two versions",
    root: { id: "Sequence1", type: "Elsa.Sequence", activities },
  });
  made.push("browser-compared");
  const take = line("a1", "one", "Take the order");
  const before = of(take, line("a2", "two", "Check the stock"), line("a3", "three", "Ask the boss"));
  const after = of(take, line("a2", "2", "Check the stock"), line("a4", "four", "Send the bill"));
  for (const version of [before, after])
    await call("POST", "/workflow-definitions/import?publish=true", version);
  await page.goto(`${studio}/definitions/browser-compared?tab=versions&compare=1`);
  const card = (id) => page.locator(`.react-flow__node[data-id="${id}"]`);
  await card("a2").getByText("Changed").waitFor();
  await card("a3").getByText("Removed").waitFor();
  await card("a4").getByText("Added").waitFor();
  assert.equal(
    await card("a1")
      .getByText(/Added|Changed|Removed/)
      .count(),
    0,
  );
  await page.getByRole("listitem").filter({ hasText: "Ask the boss a3" }).waitFor();
  await look("definition-compared");
  await named(page, "button", "Close").click();
  await card("a3").waitFor({ state: "detached" });
}

/** Leases, streams and the database, each on its tab. */
export async function holdings({ page, look }) {
  await rail(page, "Cluster").click();
  await named(page, "tab", "Leases").click();
  await page
    .getByText(/No instance is being worked on|Held by/)
    .first()
    .waitFor();
  await look("cluster-leases");
  await named(page, "tab", "NATS").click();
  const consumers = page.getByRole("region", { name: "Consumers" });
  for (const name of ["executor", "task-Ship-1"])
    await consumers.getByRole("cell", { name, exact: true }).waitFor();
  await look("cluster-nats");
  await named(page, "tab", "Database").click();
  await page.getByText("A question and its answer").waitFor();
  await page
    .getByRole("cell", { name: /instances/ })
    .first()
    .waitFor();
  await page.getByLabel("Order", { exact: true }).selectOption("Longest");
  await page.waitForURL(/by=Max/);
  await look("cluster-database");
  await named(page, "tab", "Nodes").click();
}
