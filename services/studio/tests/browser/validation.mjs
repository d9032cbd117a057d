// The way of a person who validates the cluster.
import assert from "node:assert/strict";
import { named } from "./find.mjs";

const PERMISSION = "exec:cluster-validation";
const ROUTE = "**/cluster/validation";
/** The longest that a whole validation takes, on any machine. */
const WHOLE_MS = 400_000;
const SOON_MS = 120_000;
/** This check holds for a release build, not for a debug build. */
const LEASE = "a lease is taken in time at p99";
const PARTS = [
  "1 Distributed runtime",
  "2 Scheduled tasks",
  "3 Cache invalidation",
  "4 Failover",
  "5 High availability",
  "6 Distributed lock",
  "Cleanup",
];

const begin = (page) => named(page, "button", "Start the validation").or(named(page, "button", "Run again"));
const list = (page) => page.getByRole("list", { name: "Parts and their checks" });
const part = (page, name) => list(page).locator(":scope > li").filter({ hasText: name });
/** What a screen reader says. */
const said = (page, text) => page.getByRole("status").filter({ hasText: text });

/** Answers the next validations with these events in place of the server. */
async function answer(page, events) {
  const text = events.map(([name, data]) => `event: ${name}\ndata: ${JSON.stringify(data)}\n\n`);
  await page.unroute(ROUTE);
  await page.route(ROUTE, (route) =>
    route.fulfill({ contentType: "text/event-stream", body: `: alive\n\n${text.join("")}` }),
  );
}

async function eventually(page, what, until) {
  for (const end = Date.now() + SOON_MS; !(await until()); ) {
    assert.ok(Date.now() < end, what);
    await page.waitForTimeout(300);
  }
}

/** The definitions of validations that the cluster has. */
async function made(call) {
  const { items } = await call("GET", "/workflow-definitions?page=0&pageSize=100");
  return items.filter(({ definitionId }) => definitionId.startsWith("validate-")).length;
}

/** No page is wider than its window. */
async function fits(page) {
  const [wide, seen] = await page.evaluate(() => [document.documentElement.scrollWidth, window.innerWidth]);
  assert.ok(wide <= seen, `it is ${wide} wide`);
}

async function phone({ page, look }, name) {
  await page.setViewportSize({ width: 390, height: 800 });
  await look(`phone-${name}`);
  await fits(page);
  await page.setViewportSize({ width: 1440, height: 900 });
}

/** Somebody who may not validate is offered nothing, also not by a link. */
async function notOffered({ page }, { studio }) {
  await page.route("**/identity/me", async (route) => {
    const response = await route.fetch();
    const me = await response.json();
    const permissions = me.permissions.filter((one) => one !== PERMISSION);
    await route.fulfill({ response, json: { ...me, permissions } });
  });
  await page.goto(`${studio}/cluster?tab=validate`);
  await named(page, "tab", "Leases").waitFor();
  await named(page, "tab", "Nodes").and(page.locator("[aria-selected=true]")).waitFor();
  assert.equal(await named(page, "tab", "Validate").count(), 0);
  await page.unroute("**/identity/me");
}

async function offered({ page, look }, { studio, call }) {
  await page.goto(`${studio}/cluster`);
  await named(page, "tab", "Validate").click();
  await page.waitForURL(/tab=validate/);
  await page.getByText("Their names begin with validate-", { exact: false }).waitFor();
  await page.getByText("From a terminal").click();
  const { items } = await call("GET", "/nodes");
  const line = page.getByText(/^staunch validate --nodes /);
  for (const { address } of items) if (address) await line.filter({ hasText: address }).waitFor();
  await line.waitFor();
  await page.getByText(/^curl -N -X POST .*\/cluster\/validation$/).waitFor();
  await look("validate");
  await phone({ page, look }, "validate");
}

/** A server that refuses, one that ends the stream, and a connection that breaks are no verdict. */
async function incomplete({ page, look, expect }) {
  expect(/status of 503/);
  await page.route(ROUTE, (route) =>
    route.fulfill({
      status: 503,
      contentType: "application/problem+json",
      json: { title: "Service unavailable", status: 503, detail: "1 of 3 nodes cannot be asked: node-2" },
    }),
  );
  await begin(page).click();
  await page.getByText("1 of 3 nodes cannot be asked: node-2.").waitFor();
  await look("validate-refused");
  const seen = [
    ["begun", { run: "validate-1a2b3c4d", nodes: [{ node: "n1", url: "http://n1" }], executors: ["n1"] }],
    ["part", { part: "1 distributed runtime" }],
    ["check", { part: "1 distributed runtime", check: "it runs", result: "ok", figures: "1 of 1" }],
  ];
  await answer(page, seen);
  await begin(page).click();
  await page.getByRole("alert").getByText("The connection broke.").waitFor();
  await part(page, PARTS[0]).getByText("Not completed").waitFor();
  await part(page, PARTS[1]).getByText("Not run").waitFor();
  await said(page, "The validation is not complete").waitFor();
  await look("validate-broken");
  await answer(page, [...seen, ["end", { reason: "this node stops" }]]);
  await begin(page).click();
  await page.getByText("The server ended the validation.").waitFor();
  await page.getByText("this node stops", { exact: true }).waitFor();
  assert.equal(await page.getByText("The cluster passed.").count(), 0);
  await look("validate-ended");
}

/** What failed stands in the verdict and in its part. */
async function failed({ page, look }) {
  const checks = [
    { part: "1 distributed runtime", check: "it runs", result: "ok", figures: "1 of 1" },
    {
      part: "3 cache invalidation",
      check: "no old version",
      result: "failed",
      figures: "30 starts, 2 stale",
    },
    { part: "4 failover", check: "it moves", result: "skipped", figures: "use --local" },
  ];
  await answer(page, [
    ["begun", { run: "validate-1a2b3c4d", nodes: [{ node: "n1", url: "http://n1" }], executors: ["n1"] }],
    ...checks.flatMap((one) => [
      ["part", { part: one.part }],
      ["check", one],
    ]),
    ["done", { nodes: ["n1"], passed: 1, failed: 1, skipped: 1, checks }],
  ]);
  await begin(page).click();
  await said(page, "The cluster failed. 1 passed, 1 failed, 1 skipped.").waitFor();
  await page.getByRole("list", { name: "Failed checks" }).getByText("no old version").waitFor();
  await part(page, PARTS[2]).getByText("30 starts, 2 stale").waitFor();
  await part(page, PARTS[3]).getByText("Skipped").first().waitFor();
  await look("validate-failed");
  await phone({ page, look }, "validate-failed");
  await page.unroute(ROUTE);
}

/** Begins one at the server; the one before may still clean up. */
async function started({ page, expect }) {
  expect(/status of 409/);
  await eventually(page, "the one before does not end", async () => {
    await begin(page).click();
    const stop = named(page, "button", "Stop");
    const refused = page.getByRole("alert").getByText("A validation is running already.");
    const first = list(page).getByText("Running", { exact: true });
    await first.or(refused).first().waitFor({ timeout: SOON_MS });
    return (await stop.count()) > 0;
  });
}

/** Stop ends it: nothing of it is left, and there is no verdict. All of it by keyboard. */
async function stopped({ page, look }, { call }) {
  await begin(page).focus();
  await page.keyboard.press("Enter");
  await list(page).getByText("Running", { exact: true }).first().waitFor({ timeout: SOON_MS });
  await page.getByText("The validation ends when you leave this page", { exact: false }).waitFor();
  await eventually(page, "nothing was made", async () => (await made(call)) > 0);
  await look("validate-running");
  await page.keyboard.press("Tab");
  assert.equal(await page.evaluate(() => document.activeElement?.textContent), "Stop");
  await page.keyboard.press("Enter");
  await said(page, "You stopped the validation.").waitFor();
  await list(page).getByText("Not completed").waitFor();
  assert.equal(await named(page, "button", "Stop").count(), 0);
  await look("validate-stopped");
  await eventually(page, "something is left", async () => (await made(call)) === 0);
}

/** To leave the page is to stop it; another tab of the page is not. */
async function left({ page, expect }, { studio, call }) {
  await started({ page, expect });
  await eventually(page, "nothing was made", async () => (await made(call)) > 0);
  await named(page, "tab", "Leases").click();
  await named(page, "tab", "Validate").click();
  await list(page).getByText("Running", { exact: true }).first().waitFor();
  await page.getByRole("link", { name: "Home" }).first().click();
  await named(page, "heading", "Home").waitFor();
  await eventually(page, "something is left", async () => (await made(call)) === 0);
  await page.goto(`${studio}/cluster?tab=validate`);
}

/** From the first part to the verdict. */
async function whole({ page, look, expect }, { call }) {
  await started({ page, expect });
  for (const name of PARTS) {
    const begun = part(page, name).getByText(/^(Running|Passed|Skipped|Failed)$/);
    await begun.first().waitFor({ timeout: WHOLE_MS });
  }
  await said(page, /The cluster (passed|failed)\. \d+ passed, \d+ failed, \d+ skipped\./).waitFor({
    timeout: WHOLE_MS,
  });
  const wrong = await page
    .getByRole("list", { name: "Failed checks" })
    .getByRole("listitem")
    .allTextContents();
  assert.deepEqual(
    wrong.filter((text) => !text.includes(LEASE)),
    [],
  );
  if (wrong.length === 0) await page.getByText(/^\d+ passed, 0 failed, \d+ skipped$/).waitFor();
  await part(page, "Cleanup").getByText("everything made is removed").waitFor();
  assert.equal(await made(call), 0);
  assert.equal(await named(page, "button", "Stop").count(), 0);
  await named(page, "button", "Run again").waitFor();
  await look("validate-whole");
  await phone({ page, look }, "validate-whole");
}

export const steps = [notOffered, offered, incomplete, failed, stopped, left, whole];
