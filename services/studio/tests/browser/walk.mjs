// The way of a person through the pages, each action at least once.
import assert from "node:assert/strict";
import { dropped } from "./data.mjs";
import { named, notice, rail } from "./find.mjs";
import {
  access,
  badge,
  german,
  labels,
  large,
  larger,
  letters,
  listeners,
  pause,
  phone,
  rest,
  secrets,
  watcher,
} from "./manage.mjs";
import { planned, removed, removedInParts, restarts } from "./many.mjs";
import { causes, compared, holdings, lastHour, needs, schedules, tryIt } from "./operate.mjs";
import { long, opened, several } from "./several.mjs";
import { crowd, flood, lost, narrow, offline, unchecked, undrawn } from "./weak.mjs";
import { deep, keys, skip, tasks } from "./work.mjs";

/** Signs in where the server asks for it: with a wrong password, then with the right one. */
async function signIn({ page, look, expect }, { studio, user }) {
  if (!user) return;
  expect(/status of 401/);
  await page.goto(`${studio}/instances`);
  await named(page, "heading", "Sign in to Staunch").waitFor();
  await page.getByLabel("User name").fill(user.username);
  await page.getByLabel("Password").fill("not this one");
  await named(page, "button", "Sign in").click();
  await page.getByText("The name or the password is wrong.").waitFor();
  await look("login");
  await page.getByLabel("Password").fill(user.password);
  await named(page, "button", "Sign in").click();
  await named(page, "heading", "Instances").waitFor();
}

async function home({ page, look }, { studio }) {
  await page.goto(`${studio}/`);
  await named(page, "heading", "Home").waitFor();
  await page.getByText("Just happened").waitFor();
  const runs = page.getByRole("listitem").filter({ hasText: /\d running, [\d,]+ waiting/ });
  await runs.first().waitFor();
  await page.getByRole("link", { name: /^Started \d/ }).waitFor();
  await look("home");
  await page.getByRole("link", { name: /^Faulted \d/ }).click();
  await page.waitForURL(/state=Faulted/);
  await page.goBack();
  await named(page, "heading", "Home").waitFor();
}

async function frame({ page, look }) {
  await page.keyboard.press("Control+k");
  await page.getByRole("combobox").fill("browser-appr");
  await page.getByRole("option", { name: /Order approval.*Definition/ }).waitFor();
  await look("palette");
  await page.keyboard.press("Enter");
  await page.waitForURL(/definitions\/browser-approval/);
  await page.keyboard.press("Control+k");
  await page.getByRole("combobox").fill("create");
  await page.getByRole("option", { name: /New workflow.*Command/ }).waitFor();
  await page.keyboard.press("Enter");
  await page.waitForURL(/definitions\/new/);
  await page.goBack();
  await page.waitForURL(/definitions\/browser-approval/);
  for (const [menu, item] of [
    ["Theme", "Dark"],
    ["Local", "UTC"],
  ]) {
    await named(page, "button", menu).click();
    await named(page, "menuitem", item).click();
  }
  assert.equal(await page.evaluate(() => document.documentElement.dataset.theme), "dark");
  await look("definition-dark");
  await named(page, "button", "Theme").click();
  await named(page, "menuitem", "As the system").click();
}

async function definitions({ page, look, expect }) {
  expect(/status of 400/);
  await rail(page, "Definitions").click();
  await named(page, "heading", "Definitions").waitFor();
  await look("definitions");
  const file = {
    name: "dropped.json",
    mimeType: "application/json",
    buffer: Buffer.from(JSON.stringify(dropped)),
  };
  await page.locator("input[type=file]").setInputFiles([file, { ...file, name: "copy.json" }]);
  await notice(page, "copy.json: dropped.json has the same id, browser-dropped. Nothing was imported.");
  const yaml = { name: "broken.yaml", mimeType: "application/yaml", buffer: Buffer.from("root: [") };
  await page.locator("input[type=file]").setInputFiles([file, yaml]);
  await notice(page, /^broken\.yaml: .*line \d+, column \d+: .* Nothing was imported\.$/);
  await page.locator("input[type=file]").setInputFiles(file);
  await notice(page, "1 file imported as a draft.");
  await page.getByRole("searchbox").fill("no-definition-is-called-so");
  await page.getByText("No definition matches.").waitFor();
  await page.getByRole("searchbox").fill("");
  // The search begins by itself, and the box keeps what is typed meanwhile.
  await page.getByRole("searchbox").pressSequentially("browser-dropped", { delay: 40 });
  await page.waitForURL(/q=browser-dropped/);
  await named(page, "link", "Dropped file").click();
  await named(page, "button", "Publish").click();
  await notice(page, /Published; every node has it/);
  await named(page, "tab", "Source").click();
  await look("definition-source");
  await page.getByRole("tab", { name: /^Versions/ }).click();
  await look("definition-versions");
  await named(page, "tab", "References").click();
  await page.getByText("No other workflow uses it").waitFor();
  await named(page, "button", "Actions").click();
  const saved = page.waitForEvent("download");
  await named(page, "menuitem", "Export").click();
  assert.match((await saved).suggestedFilename(), /\.json$/);
  await named(page, "button", "Actions").click();
  await named(page, "menuitem", "Retract").click();
  await look("definition-retract");
  await page.getByText("still run it").waitFor();
  await named(page, "button", "Retract version 1").click();
  await notice(page, /^Version 1 is retracted/);
  await page.getByRole("dialog").waitFor({ state: "detached" });
  await named(page, "button", "Publish").waitFor();
  await named(page, "button", "Actions").click();
  await named(page, "menuitem", "Delete").click();
  await named(page, "button", "Delete 1 definition").click();
  await named(page, "heading", "Definitions").waitFor();
}

async function start({ page, look }, { studio }) {
  await page.goto(`${studio}/definitions/browser-approval`);
  await page.locator(".react-flow__node").first().waitFor();
  assert.equal(await page.locator(".react-flow__node").count(), 5);
  await named(page, "button", "Start").click();
  await page.getByLabel("Amount · Decimal").fill("ten");
  await page.getByRole("dialog").getByRole("button", { name: "Start", exact: true }).click();
  await page.getByText("This is not a number.").waitFor();
  await page.getByLabel("Amount · Decimal").fill("2500");
  await page.getByLabel("Customer · String").fill("Muster AG");
  await page.getByLabel("Correlation id").fill("order-77");
  await look("definition-start");
  await page.getByRole("dialog").getByRole("button", { name: "Start", exact: true }).click();
  await page.waitForURL(/instances\//);
}

/** The graph has a tree beside it, with the same selection. */
async function tree(page, look) {
  await named(page, "button", "Show the tree of activities").click();
  const row = page.getByRole("treeitem", { name: /^ask/ });
  await row.waitFor();
  await look("instance-tree");
  await page.getByRole("treeitem").first().click();
  await page.keyboard.press("ArrowRight");
  await page.waitForURL(/activity=take/);
  await page.keyboard.press("ArrowLeft");
  await page.waitForURL(/activity=Flowchart1/);
  await named(page, "button", "Show all lines").click();
  await named(page, "button", "Hide the tree of activities").click();
  await row.waitFor({ state: "detached" });
}

/** The instance that the page before started: from its wait to its end, live. */
async function instance({ page, look }) {
  await page.getByText("Why is it here?").waitFor();
  await page.locator(".react-flow__node").first().waitFor();
  await look("instance-story");
  await tree(page, look);
  await page.locator('.react-flow__node[data-id="check"]').click();
  await page.getByText("Only lines of check").waitFor();
  await named(page, "button", "Show all lines").click();
  await named(page, "tab", "Values").click();
  await page.getByText("2500", { exact: true }).first().waitFor();
  await page.getByRole("slider").focus();
  await page.keyboard.press("Home");
  await page.getByText("after line 1").waitFor();
  await named(page, "button", "One line on").click();
  await page.getByText("after line 2").waitFor();
  await named(page, "button", "Compare").click();
  await page.getByLabel("After line", { exact: true }).fill("1");
  await named(page, "heading", "Outputs of activities").waitFor();
  await look("instance-compare");
  await named(page, "button", "End the comparison").click();
  await named(page, "tab", "Values").click();
  await look("instance-values");
  await named(page, "button", "Now").click();
  await named(page, "button", "Change").first().click();
  await page.getByLabel("Amount (JSON)").fill("3000");
  await named(page, "button", "Save").click();
  await notice(page, "Amount has its new value.");
  await page.getByRole("tab", { name: /^Waits/ }).click();
  await look("instance-waits");
  await named(page, "button", "Send OrderApproved").click();
  await named(page, "button", "Complete the task").waitFor();
  await page.getByLabel("The result of the task").fill('{"parcel": "P-1"}');
  await named(page, "button", "Complete the task").click();
  await page.getByText("It waits for nothing.").waitFor();
  await page.getByText("Finished", { exact: true }).first().waitFor();
  await named(page, "tab", "Timeline").click();
  const lane = page.getByRole("tabpanel").getByRole("button", { name: /^ask Finished/ });
  await lane.focus();
  await page.keyboard.press("Enter");
  await page.waitForURL(/activity=ask/);
  await page
    .locator('.react-flow__node[data-id="ask"]')
    .getByText(/\d (ms|s|min)/)
    .waitFor();
  await look("instance-timeline");
  await page.keyboard.press("Enter");
  await named(page, "tab", "Raw").click();
  await look("instance-finished");
  await named(page, "button", "Actions").click();
  await named(page, "menuitem", "Restart").click();
  await named(page, "button", "Start the new instance").click();
  await page.getByRole("dialog").waitFor({ state: "detached" });
  await named(page, "button", "Cancel").click();
  await page.getByLabel("Reason").fill("The browser test");
  await look("instance-cancel");
  await named(page, "button", "Cancel this instance").click();
  await page.getByText("Cancelled", { exact: true }).first().waitFor();
  // The button is gone: what is beside it has the focus.
  await page.waitForFunction(() => document.activeElement?.closest("#page") !== null);
  await named(page, "tab", "Family").click();
  await page.getByText("It has no parent and no children.").waitFor();
}

/** Filters under a name: they are there after they were removed, and after they are forgotten they are not. */
async function views(page) {
  await named(page, "button", "Views").click();
  await named(page, "menuitem", "Save these filters").click();
  await page.getByLabel("Name", { exact: true }).last().fill("Small orders");
  await page.getByRole("dialog").getByRole("button", { name: "Save", exact: true }).click();
  await named(page, "button", "Small orders").waitFor();
  await page.getByRole("button", { name: /Remove the filter Amount/ }).click();
  await named(page, "button", "Views").click();
  await named(page, "menuitem", "Small orders").click();
  await page.waitForURL(/values=/);
  await page.getByText("3 match").waitFor();
  await named(page, "button", "Small orders").click();
  await named(page, "menuitem", "Remove Small orders").click();
  await named(page, "button", "Views").waitFor();
}

/** What an address has and the list cannot read is named; the children of an instance are a filter. */
async function asked(page, look, { studio, waiting }) {
  await page.goto(`${studio}/instances?state=Bogus&version=abc`);
  await page.getByText("state=Bogus, version=abc").waitFor();
  await look("instances-ignored");
  await named(page, "button", "Remove from the address").click();
  await page.waitForURL(/instances$/);
  await named(page, "button", "More filters").click();
  await page.getByLabel("Started by").fill(waiting);
  await page.keyboard.press("Enter");
  await page.waitForURL(/parent=/);
  await page.getByText("No instance matches.").waitFor();
  await page.getByRole("button", { name: /^Remove the filter Started by/ }).click();
  await named(page, "button", "More filters").click();
}

/** In a window as wide as a small laptop, every head of the list has room for its words. */
async function roomy(page) {
  await page.setViewportSize({ width: 1280, height: 800 });
  const cut = await page
    .locator("th[scope=col]")
    .evaluateAll((heads) =>
      heads.filter((head) => head.scrollWidth > head.clientWidth).map((head) => head.textContent),
    );
  assert.deepEqual(cut, []);
  await page.setViewportSize({ width: 1440, height: 900 });
}

/** Says yes to a dialog whose number may become another one meanwhile: more than one has to be typed. */
async function confirmed(page, verb) {
  const dialog = page.getByRole("dialog");
  const sure = dialog.getByRole("button", { name: verb });
  await sure.waitFor();
  for (let tries = 1; ; tries++) {
    const label = dialog.getByText(/^Type \d+ to confirm/);
    const text = (await label.count()) > 0 ? ((await label.textContent()) ?? "") : "";
    if (text) await dialog.getByRole("textbox").fill(/\d+/.exec(text)?.[0] ?? "");
    try {
      await sure.click({ timeout: 1_000 });
      return;
    } catch (error) {
      if (tries >= 20) throw error;
    }
  }
}

async function instances({ page, look }, world) {
  await asked(page, look, world);
  await rail(page, "Instances").click();
  await named(page, "heading", "Instances").waitFor();
  await page.getByLabel("Definition", { exact: true }).selectOption("browser-approval");
  await page.waitForURL(/definition=browser-approval/);
  await named(page, "button", "More filters").click();
  await page.getByLabel("Searchable value").fill("Amount<100");
  await page.keyboard.press("Enter");
  await page.waitForURL(/values=/);
  await page.getByText("3 match").waitFor();
  await look("instances");
  await roomy(page);
  await page.reload();
  await page.getByText("3 match").waitFor();
  await page.getByText("1–3 of 3").waitFor();
  await views(page);
  await page.getByLabel("Select all rows that are here").check();
  await named(page, "button", "Delete").click();
  const sure = named(page, "button", "Delete 3 chosen");
  assert.equal(await sure.isDisabled(), true);
  await page.getByLabel("Type 3 to confirm").fill("3");
  await look("instances-delete");
  await sure.click();
  await notice(page, "3 of 3 deleted.");
  await page.getByText("No instance matches.").waitFor();
  await page.getByRole("button", { name: /Remove the filter Amount/ }).click();
  await page.getByRole("button", { name: /^Waits/ }).click();
  await page.waitForURL(/state=Suspended/);
  await named(page, "button", "Cancel all that match").click();
  await confirmed(page, /^Cancel \d+ that match/);
  await page.getByText("Change of many instances").waitFor();
  await page.waitForFunction(
    () => document.activeElement?.getAttribute("aria-label") === "Change of many instances",
  );
  await page.getByText(/^(Succeeded|All \d+ succeeded)$/).waitFor();
  await look("instances-plan");
  await page.keyboard.press("Escape");
}

async function incidents({ page, look }, { studio, failed }) {
  await rail(page, "Incidents").click();
  await named(page, "tab", "By instance").click();
  await page.getByText("missingThing is not defined").first().waitFor();
  await look("incidents");
  await page.goto(`${studio}/instances/${failed}?tab=incidents`);
  await page.getByText("missingThing is not defined").first().waitFor();
  await look("instance-incident");
  await named(page, "tab", "Values").click();
  await named(page, "button", "Change").first().waitFor();
  await named(page, "button", "Actions").click();
  await named(page, "menuitem", "Migrate").waitFor();
  await page.keyboard.press("Escape");
  await page.getByRole("tab", { name: /^Incidents/ }).click();
  await page.getByRole("tabpanel").getByRole("button", { name: "Retry" }).click();
  await notice(page, /It runs again|missingThing/);
}

export const steps = [
  signIn,
  home,
  frame,
  definitions,
  several,
  long,
  labels,
  start,
  instance,
  tasks,
  opened,
  removed,
  removedInParts,
  planned,
  restarts,
  instances,
  deep,
  needs,
  causes,
  incidents,
  keys,
  skip,
  lastHour,
  compared,
  tryIt,
  schedules,
  holdings,
  rest,
  letters,
  listeners,
  pause,
  access,
  secrets,
  lost,
  undrawn,
  unchecked,
  offline,
  narrow,
  crowd,
  flood,
  phone,
  badge,
  large,
  larger,
  german,
  watcher,
];
