// The way through what runs by itself: schedules, causes of failures, what the cluster holds.
import assert from "node:assert/strict";
import { named, notice, rail } from "./find.mjs";

/** A schedule is looked at, paused, let go on, and started between its times. */
export async function schedules({ page, look }, { call }) {
  await rail(page, "Schedules").click();
  await named(page, "heading", "Schedules").waitFor();
  const row = page.getByRole("row").filter({ hasText: "0 0 4 * * *" });
  await row.waitFor();
  await look("schedules");
  await named(page, "tab", "7 days").click();
  await page.waitForURL(/span=week/);
  await row.getByRole("button").first().click();
  const panel = page.getByRole("complementary", { name: "Schedule" });
  await panel.getByText("Next times").waitFor();
  assert.equal(await panel.getByRole("list").getByRole("listitem").count(), 20);
  await look("schedule");
  await panel.getByRole("button", { name: "Pause", exact: true }).click();
  await panel
    .getByText(/^Paused by|^paused$/i)
    .first()
    .waitFor();
  await panel.getByText("It does not fire again.").waitFor();
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
  await page.getByText("Consumers").first().waitFor();
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
