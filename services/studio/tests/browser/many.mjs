// What is done to all instances that match, and the plan of a change with many jobs.
import assert from "node:assert/strict";
import { named, notice } from "./find.mjs";

/** All that match are removed, with the number that the server counts; others stay. */
export async function removed({ page, look }, { studio, call }) {
  const start = (Amount) =>
    call("POST", "/workflow-instances/start", { definitionId: "browser-approval", input: { Amount } });
  for (let at = 0; at < 3; at += 1) await start(70_000 + at);
  const { workflowInstanceId: kept } = await start(60_000);
  await page.goto(`${studio}/instances?definition=browser-approval&version=1&values=Amount%3E%3D70000`);
  await page.getByText("3 match").waitFor();
  await named(page, "button", "Delete all that match").click();
  const sure = named(page, "button", "Delete 3 that match");
  await page.getByLabel("Type 3 to confirm").fill("2");
  assert.equal(await sure.isDisabled(), true);
  await page.getByLabel("Type 3 to confirm").fill("3");
  await look("instances-delete-all");
  await sure.click();
  await notice(page, "3 deleted, 0 left.");
  await page.getByText("No instance matches.").waitFor();
  await call("GET", `/workflow-instances/${kept}`);
}

/** A deletion that takes several calls shows how far it is, and ends with its dialog. */
export async function removedInParts({ page, look }, { studio }) {
  let left = 600;
  let calls = 0;
  let release;
  await page.route("**/workflow-instances/query", (route) =>
    route.fulfill({ json: { items: [], totalCount: left, nextCursor: null } }),
  );
  await page.route("**/workflow-instances/by-filter", async (route) => {
    calls += 1;
    if (calls === 2) await new Promise((resolve) => (release = resolve));
    left -= 250;
    await route.fulfill({ json: { deleted: 250, remaining: left } });
  });
  await page.goto(`${studio}/instances?state=Finished`);
  await named(page, "button", "Delete all that match").click();
  await page.getByLabel("Type 600 to confirm").fill("600");
  await named(page, "button", "Delete 600 that match").click();
  await page.getByRole("dialog").getByText("250 deleted, 350 left.").waitFor();
  const progress = page.getByRole("dialog").getByRole("progressbar", { name: "Progress" });
  assert.equal(await progress.getAttribute("aria-valuenow"), "250");
  await look("instances-delete-part");
  await page.keyboard.press("Escape");
  await page.getByRole("dialog").waitFor({ state: "detached" });
  release();
  await notice(page, "500 deleted, 100 left.");
  await page.unroute("**/workflow-instances/by-filter");
  await page.unroute("**/workflow-instances/query");
  assert.equal(calls, 2);
}

/** A plan of many jobs is read page by page; how many are in which state says the server. */
export async function planned({ page, look }, { studio }) {
  const job = (number) => ({
    id: `job-${number}`,
    planId: "many",
    workflowInstanceId: `order-${number}`,
    status: number % 10 === 0 ? "Failed" : "Completed",
    log: [],
    createdAt: "2026-01-01T00:00:00Z",
  });
  await page.route("**/alterations/many?*", (route) => {
    const asked = new URL(route.request().url()).searchParams;
    const first = Number(asked.get("page")) * Number(asked.get("pageSize"));
    const state = asked.get("status");
    const all = Array.from({ length: 120 }, (_, number) => job(number));
    const found = all.filter(({ status }) => state === null || status === state);
    const jobs = found.slice(first, first + 50);
    const at = "2026-01-01T00:00:00Z";
    const plan = { id: "many", alterations: [{ type: "Retry" }], status: "Completed", createdAt: at };
    const progress = { pending: 0, running: 0, completed: 108, failed: 12 };
    return route.fulfill({
      json: { plan: { ...plan, startedAt: at, completedAt: at }, progress, jobs, totalCount: found.length },
    });
  });
  await page.goto(`${studio}/instances?plan=many`);
  const panel = page.getByRole("complementary", { name: "Change of many instances" });
  await panel.getByText("1–50 of 120").waitFor();
  await panel.getByText("108", { exact: true }).waitFor();
  await named(panel, "button", "Next page").click();
  await panel.getByText("51–100 of 120").waitFor();
  await named(panel, "button", "Next page").click();
  await panel.getByRole("link", { name: "order-119" }).waitFor();
  assert.equal(await panel.getByRole("link").count(), 20);
  await panel.getByText("12 of 120 failed", { exact: true }).waitFor();
  const bar = panel.getByRole("progressbar", { name: "Progress" });
  assert.equal(await bar.getAttribute("aria-valuetext"), "12 of 120 failed");
  await look("plan-pages");
  await panel.getByLabel("Instances to show").selectOption("Failed");
  await panel.getByRole("link", { name: "order-110" }).waitFor();
  await panel.getByRole("link", { name: "order-119" }).waitFor({ state: "detached" });
  assert.equal(await panel.getByRole("link").count(), 12);
  await look("plan-failed");
  await page.keyboard.press("Escape");
  await page.unroute("**/alterations/many?*");
}

/** A new instance begins only where the server takes it: at an activity of the Flowchart that is the root. */
export async function restarts({ page, look }, { studio, waiting, failed }) {
  const restart = async (instance) => {
    await page.goto(`${studio}/instances/${instance}`);
    await named(page, "button", "Actions").click();
    await named(page, "menuitem", "Restart").click();
  };
  await restart(`${waiting}?activity=ask`);
  const place = page.getByLabel("Begin at the activity");
  await place.waitFor();
  assert.equal(await place.inputValue(), "ask");
  assert.equal(await place.getByRole("option").count(), 6);
  await look("restart");
  // What is no object is not left out without a word.
  await page.getByLabel("Input (JSON)").fill("[7]");
  await named(page, "button", "Start the new instance").click();
  await page.getByText("A JSON object is expected").waitFor();
  await look("restart-refused");
  await page.keyboard.press("Escape");
  await restart(`${failed}?activity=charge`);
  await page.getByText(/^It begins at the start of the workflow/).waitFor();
  assert.equal(await place.count(), 0);
  await look("restart-sequence");
  await page.keyboard.press("Escape");
}
