// A connection that breaks, a browser with many tabs, a flood of events: what is on the page stays, and nothing
// waits for ever.
import assert from "node:assert/strict";
import { named, rail } from "./find.mjs";
import { enter } from "./world.mjs";

/** A page whose code cannot be loaded says so inside the frame, and comes as soon as it can. */
export async function lost({ page, look, expect }, { studio }) {
  expect(/Failed to load resource: net::ERR_(INTERNET_DISCONNECTED|FAILED|CONNECTION_REFUSED)/);
  await page.route("**/assets/SecretsPage.js", (route) => route.abort());
  await page.goto(`${studio}/definitions`);
  await named(page, "heading", "Definitions").waitFor();
  await rail(page, "Secrets").click();
  await page.getByText("This part of Studio could not be loaded.").waitFor();
  await rail(page, "Home").waitFor();
  await look("page-lost");
  await page.unroute("**/assets/SecretsPage.js");
  await named(page, "button", "Try again").click();
  await named(page, "heading", "Secrets").waitFor();
}

/** The code editor is lost with the connection: the drawing is not. */
export async function undrawn({ page, look }, { studio }) {
  await page.route("**/assets/TextTab.js", (route) => route.abort());
  await page.goto(`${studio}/definitions/browser-approval/edit`);
  const name = page.locator("#designer-inspector").getByLabel("Name", { exact: true });
  await name.fill("Order approval, changed");
  const drawer = page.getByRole("navigation", { name: "Problems, variables, text and runs" });
  await named(drawer, "button", "Text").click();
  await page.getByText("This part of Studio could not be loaded.").waitFor();
  assert.equal(await name.inputValue(), "Order approval, changed");
  await look("designer-part-lost");
  await page.unroute("**/assets/TextTab.js");
  await named(page, "button", "Try again").click();
  await page.locator(".cm-content").getByText("Order approval, changed").first().waitFor();

  await rail(page, "Home").click();
  await named(page, "heading", "Leave with unsaved changes?").waitFor();
  await look("designer-leave");
  await named(page, "button", "Stay here").click();
  await page.locator(".cm-content").waitFor();
  await rail(page, "Home").click();
  await named(page, "button", "Leave without saving").click();
  await named(page, "heading", "Home").waitFor();
}

/** What the server could not be asked about is not said to be right; it is asked again by itself. */
export async function unchecked({ page, look, expect }, { studio }) {
  expect(/Failed to load resource: net::ERR_FAILED/);
  await page.route("**/workflow-definitions/validation/check", (route) => route.abort());
  await page.goto(`${studio}/definitions/browser-approval/edit`);
  const name = page.locator("#designer-inspector").getByLabel("Name", { exact: true });
  await name.fill("Order approval, unchecked");
  await named(page, "button", "Publish").click();
  const dialog = named(page, "dialog", "Publish this workflow?");
  const failed = dialog.getByText("It could not be checked");
  await failed.waitFor();
  assert.equal(await dialog.getByText("No problems found.").count(), 0);
  await look("designer-unchecked");
  await page.unroute("**/workflow-definitions/validation/check");
  await failed.waitFor({ state: "detached", timeout: 10_000 });
  await named(dialog, "button", "Close").click();
  await rail(page, "Home").click();
  await named(page, "button", "Leave without saving").click();
  await named(page, "heading", "Home").waitFor();
}

/** On a phone the sign that nothing is live takes no room from the name of the instance. */
export async function narrow({ page, context, expect }, { studio, failed }) {
  expect(/net::ERR_INTERNET_DISCONNECTED/);
  await page.setViewportSize({ width: 360, height: 800 });
  await page.goto(`${studio}/instances/${failed}`);
  const light = page.getByTitle("Live updates, and the node that sends them");
  const broken = light.getByText(/^Connecting again/);
  await page.getByRole("heading", { level: 1 }).waitFor();
  await light.waitFor();
  await context.setOffline(true);
  await broken.waitFor({ timeout: 5000 });
  const cut = await page.getByRole("navigation", { name: "Where you are" }).evaluate((place) => {
    const parts = [...place.querySelectorAll("a, span")];
    return parts.filter((part) => part.scrollWidth > part.clientWidth + 1).map((part) => part.textContent);
  });
  await context.setOffline(false);
  await broken.waitFor({ state: "detached", timeout: 10_000 });
  await page.setViewportSize({ width: 1440, height: 900 });
  assert.deepEqual(cut, []);
}

/** After a while the code of all pages is there, and the connection may break: the light says so at once. */
export async function offline({ page, context, expect }, { studio }) {
  expect(/net::ERR_INTERNET_DISCONNECTED/);
  await page.goto(`${studio}/`);
  const wanted = ["TasksPage.js", "SecretsPage.js", "designer.js"];
  await page.waitForFunction(
    (names) =>
      names.every((name) => performance.getEntriesByType("resource").some((one) => one.name.endsWith(name))),
    wanted,
  );
  const light = page.getByTitle("Live updates, and the node that sends them");
  const broken = light.getByText(/^Connecting/);
  await light.waitFor();
  await broken.waitFor({ state: "detached" });
  await context.setOffline(true);
  await broken.waitFor({ timeout: 5000 });
  await rail(page, "Cluster").click();
  await named(page, "heading", "Cluster").first().waitFor();
  // What is shown is not of now, and no node answers.
  const stale = page.getByText("What is shown is as of");
  await stale.waitFor();
  await page.getByText("Answers you").waitFor({ state: "detached" });
  await context.setOffline(false);
  await broken.waitFor({ state: "detached", timeout: 10_000 });
  await stale.waitFor({ state: "detached" });
}

const FLOOD = "browser-flood";
const FLOOD_STARTS = 4000;

/** Thousands of events in the last minutes, and more that come: the page answers, and asks no more than otherwise. */
export async function flood({ page }, { studio, call, made }) {
  made.push(FLOOD);
  await call("POST", "/workflow-definitions/import?publish=true", {
    definitionId: FLOOD,
    name: "Flood",
    root: { id: "line", type: "Elsa.WriteLine", text: "one of many" },
  });
  const dispatch = () => call("POST", `/workflow-definitions/${FLOOD}/bulk-dispatch`, { count: 1000 });
  for (let started = 1000; started < FLOOD_STARTS; started += 1000) await dispatch();

  let asked = 0;
  const count = (request) => {
    if (request.url().endsWith("/workflow-instances/query")) asked += 1;
  };
  page.on("request", count);
  const begin = Date.now();
  await page.goto(`${studio}/`);
  const feed = page.getByRole("region", { name: "Just happened" });
  await feed.getByRole("listitem").nth(39).waitFor();
  const last = dispatch();
  for (let look = 0; look < 20; look += 1) {
    const late = await page.evaluate(() => {
      const at = performance.now();
      return new Promise((resolve) => setTimeout(() => resolve(performance.now() - at), 0));
    });
    assert.ok(late < 2000, `the page answers after ${late} ms`);
    await page.waitForTimeout(200);
  }
  await last;
  page.off("request", count);
  // Seven lists and counts follow the events, each at most once in two seconds.
  const most = 7 * ((Date.now() - begin) / 2000 + 3);
  assert.ok(asked <= most, `${asked} lists of instances were asked for`);

  const ofFlood = { definitionIds: [FLOOD], pageSize: 1000 };
  for (;;) {
    const { items } = await call("POST", "/workflow-instances/query", ofFlood);
    if (items.length === 0) return;
    await call("POST", "/bulk-actions/delete/workflow-instances", { ids: items.map(({ id }) => id) });
  }
}

/** Many tabs that can all be seen: the latest one alone holds its streams, and requests are answered. */
export async function crowd({ page, context }, { studio, user, call }) {
  const input = { Amount: 5000, Customer: "Muster AG" };
  const started = await call("POST", "/workflow-instances/start", {
    definitionId: "browser-approval",
    input,
  });
  const tabs = [];
  for (let number = 0; number < 8; number += 1) {
    const tab = await context.newPage();
    tabs.push(tab);
    await tab.goto(`${studio}/instances/${started.workflowInstanceId}`, { timeout: 10_000 });
    await enter(tab, user);
    await tab.getByText("Why is it here?").waitFor({ timeout: 10_000 });
  }
  const last = tabs.at(-1);
  await last.locator('[data-live="open"]').waitFor({ timeout: 15_000 });
  for (const tab of tabs) await tab.close();
  await page.bringToFront();
}
