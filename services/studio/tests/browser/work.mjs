// The way through work that others do, through failures that are passed over, and through lists without an end.
import assert from "node:assert/strict";
import { named, notice, rail } from "./find.mjs";
import { answer } from "./nats.mjs";

const TYPE = "Browser.ChargeCard";
const MILLIONS = 2_000_000;

/** A document of a type is registered, looked at, changed and removed. */
async function registered(page, look) {
  await named(page, "button", "Register a type").click();
  const document = page.getByLabel("Document of the type (JSON)");
  await document.fill("{");
  await page.getByText(/^This is not JSON/).waitFor();
  const register = page.getByRole("dialog").getByRole("button", { name: "Register a type" });
  assert.equal(await register.isDisabled(), true);
  const type = { type: TYPE, version: 1, displayName: "Charge card", mode: "task", outcomes: ["Paid"] };
  await document.fill(JSON.stringify({ ...type, input: { type: "colour" } }));
  await register.click();
  await page.getByRole("dialog").getByRole("alert").waitFor();
  await look("task-refused");
  await document.fill(JSON.stringify({ ...type, input: { type: "object", properties: {} } }));
  await register.click();
  await notice(page, `${TYPE}@1 is registered.`);
  const panel = page.getByRole("complementary", { name: `${TYPE}@1` });
  await panel.getByText("Subject of tasks").waitFor();
  await panel.getByText("From a terminal").click();
  await panel.getByText(`staunch worker creds ${TYPE}@1`).waitFor();
  await look("task-type");
  await named(panel, "button", "Change the document").click();
  await document.fill(JSON.stringify({ ...type, description: "Charges a card." }));
  await page.getByRole("dialog").getByRole("button", { name: "Change the document" }).click();
  await panel.getByText("Charges a card.", { exact: true }).waitFor();
  await named(panel, "button", "Delete").click();
  await named(page, "button", `Remove ${TYPE}@1`).click();
  await page.getByRole("dialog").waitFor({ state: "detached" });
  await page.getByRole("row").filter({ hasText: "Charge card" }).waitFor({ state: "detached" });
}

/** A worker that says who it is, to NATS, is in the list with what it does. */
async function working(page, look, nats) {
  await page.getByText("No worker has said who it is.").waitFor();
  const takes = JSON.stringify([{ type: "Ship", version: 1, concurrency: 8 }]);
  const metadata = { "staunch-tasks": takes, host: "browser-host" };
  const about = { name: "staunch-worker", id: "W1", version: "0.1.0", endpoints: [], metadata };
  const leave = await answer(nats.split(",")[0], "$SRV.INFO", JSON.stringify(about));
  const row = page.getByRole("row").filter({ hasText: "browser-host" });
  await row.getByText("8 at a time").waitFor();
  await row.getByRole("button", { name: "Ship@1" }).waitFor();
  await look("tasks-workers");
  leave();
}

/** What waits for workers, who works, and what one of them has in hand. */
export async function tasks({ page, look, expect }, { studio, call }) {
  expect(/status of 400/);
  await page.goto(`${studio}/`);
  await rail(page, "Tasks").click();
  await named(page, "heading", "Tasks and workers").waitFor();
  const pools = page.getByRole("region", { name: "Tasks by type" });
  const row = pools.getByRole("row").filter({ hasText: "Ship@1" });
  // What a walk before this one took and never finished is still in its hand.
  await row.getByText(/Nobody takes them|At work/).waitFor();
  await look("tasks");
  const nats = process.env.STAUNCH_NATS_URL;
  if (nats) await working(page, look, nats);
  else process.stdout.write("workers: skipped, STAUNCH_NATS_URL is not set\n");
  await call("POST", "/tasks/poll", { types: ["Ship"], max: 1, wait: 1 });
  await row.getByText("At work").waitFor();
  await row.getByRole("button", { name: "Ship@1" }).click();
  await page.waitForURL(/type=Ship/);
  await page.getByRole("complementary", { name: "Ship@1" }).getByText("Consumer", { exact: true }).waitFor();
  const open = page.getByRole("region", { name: "Instances that wait" });
  const waits = open.getByRole("row").nth(1).getByRole("link");
  assert.match(await waits.getAttribute("href"), /\/instances\/[^/]+$/);
  // No task has a deadline: a column without anything in it would only take room.
  assert.equal(await open.getByRole("columnheader", { name: "Until" }).count(), 0);
  const [wide, seen] = await open.evaluate((part) => [part.scrollWidth, part.clientWidth]);
  assert.ok(wide <= seen, `the table of the panel is ${wide} wide, of which ${seen} are seen`);
  await look("task-pool");
  await page.keyboard.press("Escape");
  await page.getByRole("complementary").waitFor({ state: "detached" });
  await page.goto(`${studio}/tasks?type=Nope%4099`);
  await page.getByText("There is no type Nope@99.").waitFor();
  await look("task-unknown");
  await page.keyboard.press("Escape");
  await page.waitForURL((url) => !url.search.includes("type"));
  await registered(page, look);
}

const hasFocus = (place) => place.evaluate((one) => one === document.activeElement);

/** The focus is in the dialog, or with the browser itself, and comes back when Escape closes it. */
async function held(page, opener) {
  const dialog = page.getByRole("dialog");
  await dialog.waitFor();
  for (let press = 0; press < 15; press += 1) {
    await page.keyboard.press("Tab");
    const isOut = await page.evaluate(
      () => document.activeElement !== document.body && !document.activeElement?.closest("dialog"),
    );
    assert.ok(!isOut, "the focus is behind the dialog");
  }
  await page.keyboard.press("Escape");
  await dialog.waitFor({ state: "detached" });
  await page.waitForFunction((one) => one === document.activeElement, await opener.elementHandle(), {
    timeout: 5000,
  });
}

/** A failed instance is migrated, retried and passed over by keyboard alone. */
export async function keys({ page }, { studio, failed }) {
  await page.goto(`${studio}/instances/${failed}?tab=incidents`);
  await page.getByText("missingThing is not defined").first().waitFor();
  const actions = named(page, "button", "Actions");
  await actions.focus();
  await page.keyboard.press("Enter");
  const migrate = named(page, "menuitem", "Migrate");
  await migrate.waitFor();
  for (let press = 0; press < 10 && !(await hasFocus(migrate)); press += 1)
    await page.keyboard.press("ArrowDown");
  assert.ok(await hasFocus(migrate), "the arrows do not lead to Migrate");
  await page.keyboard.press("Enter");
  await held(page, actions);
  // From the tab, the next stops are what can be done.
  const panel = page.getByRole("tabpanel");
  await page.getByRole("tab", { name: /^Incidents/ }).focus();
  for (const name of ["Retry", "Skip"]) {
    const button = panel.getByRole("button", { name }).first();
    for (let press = 0; press < 5 && !(await hasFocus(button)); press += 1) await page.keyboard.press("Tab");
    assert.ok(await hasFocus(button), `Tab does not lead to ${name}`);
  }
  await page.keyboard.press("Enter");
  await held(page, panel.getByRole("button", { name: "Skip" }).first());
  // What takes itself away leaves the focus to what is beside it.
  await page.getByRole("tab", { name: "Story" }).click();
  const press = async (button, heir) => {
    await button.focus();
    await page.keyboard.press("Enter");
    await page.waitForFunction((one) => one?.contains(document.activeElement), await heir.elementHandle(), {
      timeout: 5000,
    });
  };
  await press(panel.getByRole("button", { name: "Set Variable" }).first(), panel);
  await page.getByText("Only lines of Set Variable").waitFor();
  await press(named(panel, "button", "Show all lines"), panel);
  const travel = page.getByRole("region", { name: "Travel in time" });
  await press(named(travel, "button", "One line back"), travel);
  await press(named(travel, "button", "Now"), travel);
}

/** An activity that failed is passed over, and its instance goes on to its end. */
export async function skip({ page, look }, { studio, passed }) {
  await page.goto(`${studio}/instances/${passed}?tab=incidents`);
  await page.getByText("missingThing is not defined").first().waitFor();
  await page.getByRole("tabpanel").getByRole("button", { name: "Skip" }).click();
  const dialog = page.getByRole("dialog");
  await dialog.getByLabel("Outcomes").waitFor();
  await look("instance-skip");
  await dialog.getByRole("button", { name: "Skip" }).click();
  await dialog.waitFor({ state: "detached" });
  await page.getByText("Finished", { exact: true }).first().waitFor();
  const panel = page.getByRole("tabpanel");
  // Steps before this one may have retried it, too.
  await panel.getByText(/^\d+ incidents?, resolved$/).waitFor();
  await panel.getByText("Skipped", { exact: true }).waitFor();
  await panel
    .getByText(/missingThing is not defined/)
    .first()
    .waitFor();
  await page
    .getByRole("button", { name: "Set Variable, charge, Skipped" })
    .or(page.getByLabel("Set Variable, charge, Skipped"))
    .first()
    .waitFor();
  await look("instance-skipped");
}

const row = (number) => ({
  id: number.toString(16).padStart(16, "0"),
  definitionId: "browser-approval",
  definitionVersionId: "browser-approval-1",
  version: 1,
  status: "Finished",
  subStatus: "Finished",
  name: `Order ${number}`,
  incidentCount: 0,
  createdAt: "2026-01-01T00:00:00Z",
  updatedAt: "2026-01-01T00:00:00Z",
  finishedAt: "2026-01-01T00:00:00Z",
});

/** Turns the wheel over a list until this is drawn: a busy browser takes several turns as one, or none. */
async function wheelTo(page, list, text) {
  const wanted = list.getByText(text, { exact: true });
  for (let turn = 0; turn < 200 && !(await wanted.isVisible()); turn += 1) {
    await list.hover();
    await page.mouse.wheel(0, 200);
    await page.waitForTimeout(50);
  }
  await wanted.waitFor();
}

/** A list of millions: the page deep in it is asked for by its cursor, and so is what follows. */
export async function deep({ page, look }, { studio }) {
  const asked = [];
  await page.route("**/workflow-instances/query", (route) => {
    const { page: part = 0, pageSize = 100, cursor } = route.request().postDataJSON();
    if (pageSize > 0) asked.push(cursor ?? `page ${part}`);
    const from = cursor ? Number(cursor) : part * pageSize;
    const items = Array.from({ length: pageSize }, (_, one) => row(from + one));
    const nextCursor = from + pageSize < MILLIONS ? String(from + pageSize) : null;
    return route.fulfill({ json: { items, totalCount: 1_000_000, nextCursor } });
  });
  await page.goto(`${studio}/instances?page=10000&cursor=1000000&before=999900`);
  await page.getByText("Order 1000000", { exact: true }).waitFor();
  await page.getByText(/^1,000,001–/).waitFor();
  await look("instances-deep");
  await wheelTo(page, page.getByRole("region", { name: "Instances" }), "Order 1000145");
  await page.waitForURL(/page=10001&cursor=1000100&before=1000000/);
  await page.reload();
  await page.getByText("Order 1000115", { exact: true }).waitFor();
  await named(page, "button", "The 500,000 rows before").click();
  await page.waitForURL(/page=5000/);
  await page.getByText("Order 500000", { exact: true }).waitFor();
  await named(page, "button", "Refresh").click();
  await page.getByText("Order 500000", { exact: true }).waitFor();
  await page.unroute("**/workflow-instances/query");
  // Only the jump had to count: all the rest was asked for by cursors.
  assert.deepEqual([...new Set(asked.filter((one) => one.startsWith("page ")))].sort(), [
    "page 0",
    "page 5000",
  ]);
}
