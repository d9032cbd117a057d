// A connection that breaks, and a browser with many tabs: what is on the page stays, and nothing waits for ever.
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

/** After a while the code of all pages is there, and the connection may break. */
export async function offline({ page, context }, { studio }) {
  await page.goto(`${studio}/`);
  const wanted = ["TasksPage.js", "SecretsPage.js", "designer.js"];
  await page.waitForFunction(
    (names) =>
      names.every((name) => performance.getEntriesByType("resource").some((one) => one.name.endsWith(name))),
    wanted,
  );
  await context.setOffline(true);
  await rail(page, "Cluster").click();
  await named(page, "heading", "Cluster").first().waitFor();
  await context.setOffline(false);
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
