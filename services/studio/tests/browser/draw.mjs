// The way of a person through the designer.
import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { cases } from "./cases.mjs";
import { moreSteps } from "./draw-more.mjs";
import { card, drag, edge, field, inspector, named, select, stored } from "./hands.mjs";
import { shortForm } from "./short.mjs";
import { tryOut } from "./trial.mjs";

async function draw({ page, look }, { studio }) {
  await page.goto(`${studio}/definitions/new`);
  await page.getByText("Nothing here yet").waitFor();
  await inspector(page).getByLabel("Name").fill("Drawn by hand");
  await look("empty");
  await page.getByPlaceholder("Search activities").fill("write line");
  await page
    .locator('[data-type="Elsa.WriteLine"]')
    .dragTo(page.locator("#designer-canvas"), { targetPosition: { x: 120, y: 200 } });
  await card(page, "WriteLine1").waitFor();
  await field(page, "Text").getByLabel("Text", { exact: true }).fill("Hello");
  await page.getByPlaceholder("Search activities").fill("");
  await page
    .locator('[data-type="Elsa.FlowDecision"]')
    .first()
    .dragTo(page.locator("#designer-canvas"), { targetPosition: { x: 420, y: 200 } });
  await card(page, "FlowDecision1").waitFor();
  await card(page, "WriteLine1").hover();
  await drag(
    page,
    await edge(card(page, "WriteLine1").locator(".source"), "middle"),
    await edge(card(page, "FlowDecision1"), "middle"),
  );
  await page.locator(".react-flow__edge").first().waitFor({ state: "attached" });
  assert.equal(await page.locator(".react-flow__edge").count(), 1);
}

async function dropLine({ page, look }) {
  await card(page, "FlowDecision1").hover();
  const port = await edge(card(page, "FlowDecision1").locator('.source[data-handleid="True"]'), "middle");
  await drag(page, port, { x: port.x + 100, y: port.y - 130 });
  const menu = named(page, "dialog", "Add an activity");
  await menu.waitFor();
  await menu.getByRole("combobox").fill("set variable");
  await look("line-dropped");
  await page.keyboard.press("Enter");
  await card(page, "SetVariable1").waitFor();
  assert.equal(await page.locator(".react-flow__edge").count(), 2);
}

async function expressions({ page, look }) {
  await page.getByRole("button", { name: "Variables", exact: true }).click();
  await named(page, "button", "Add a variable").click();
  await page.getByLabel("Variables: Name").fill("Total");
  await page.getByLabel("Total: Type").selectOption("Int32");
  await named(page, "button", "Add an input").click();
  await page.getByLabel("Inputs: Name").fill("Amount");
  await page.getByLabel("Amount: Type").selectOption("Int32");
  await look("variables");
  await named(page, "button", "Hide").click();
  await card(page, "SetVariable1").click();
  await field(page, "Variable").getByRole("combobox").selectOption("Total");
  await field(page, "Value").getByLabel("Language of Value").selectOption("JavaScript");
  await field(page, "Value").locator(".cm-content").click();
  await page.keyboard.type("getAm");
  await page.locator(".cm-tooltip-autocomplete li").filter({ hasText: "getAmount()" }).waitFor();
  await look("completion");
  await page.keyboard.press("Enter");
  await page.keyboard.type(" * (2");
  await page.keyboard.press("Delete");
  await field(page, "Value").getByRole("alert").filter({ hasText: "closes" }).waitFor();
  await page.keyboard.type(")");
  await field(page, "Value").getByRole("alert").waitFor({ state: "detached" });
  await card(page, "FlowDecision1").click();
  await field(page, "Condition").getByLabel("Language of Condition").selectOption("JavaScript");
  await field(page, "Condition").locator(".cm-content").click();
  await page.keyboard.type("getInput('Amount') > 10");
}

/** Esc closes what a field has open, then leads back to the card; Enter leads to the inspector again. */
async function back({ page }) {
  const focused = page.locator(".react-flow__node.selected:focus");
  const offers = page.locator(".cm-tooltip-autocomplete");
  await select(page, "SetVariable1");
  await field(page, "Value").locator(".cm-content").click();
  await page.keyboard.press("End");
  await page.keyboard.press("Control+Space");
  await offers.waitFor();
  await page.keyboard.press("Escape");
  await offers.waitFor({ state: "detached" });
  assert.equal(await focused.count(), 0, "the focus stays in the field");
  // Tab goes on to the next field, and Shift Tab back; Esc leaves the editor before it leads to the card.
  const inEditor = () => page.evaluate(() => document.activeElement.closest(".code-host") !== null);
  await page.keyboard.press("Tab");
  assert.equal(await inEditor(), false, "Tab leaves a small editor");
  await page.keyboard.press("Shift+Tab");
  assert.equal(await inEditor(), true, "Shift Tab leads back into it");
  await page.keyboard.press("Escape");
  await page.getByText("Value: left with Esc. Tab leads on, Shift Tab back into it.").waitFor();
  assert.equal(await focused.count(), 0, "Esc leaves the editor, and not the field");
  await page.keyboard.press("Escape");
  await focused.waitFor();
  await page.keyboard.press("Enter");
  await page.waitForFunction(() => document.activeElement.closest("#designer-inspector") !== null);
  await page.keyboard.press("Escape");
  await focused.waitFor();
}

async function undo({ page }) {
  await select(page, "SetVariable1");
  await page.locator("#designer-canvas").focus();
  await page.keyboard.press("Delete");
  await card(page, "SetVariable1").waitFor({ state: "detached" });
  assert.equal(await page.locator(".react-flow__edge").count(), 1);
  await page.keyboard.press("Control+z");
  await card(page, "SetVariable1").waitFor();
  assert.equal(await page.locator(".react-flow__edge").count(), 2);
  await select(page, "SetVariable1");
  await page.locator("#designer-canvas").focus();
  await page.keyboard.press("Control+d");
  await card(page, "SetVariable2").waitFor();
  await page.keyboard.press("Control+c");
  await page.keyboard.press("Control+v");
  await card(page, "SetVariable3").waitFor();
  const text = await page.evaluate(() => navigator.clipboard.readText());
  assert.equal(JSON.parse(text).activities[0].type, "Elsa.SetVariable");
  await page.keyboard.press("Control+z");
  await page.keyboard.press("Control+z");
  await card(page, "SetVariable2").waitFor({ state: "detached" });
}

async function keyboard({ page }) {
  await page.locator("#designer-canvas").focus();
  await card(page, "FlowDecision1").click();
  await page.locator("#designer-canvas").focus();
  await page.keyboard.press("a");
  await named(page, "dialog", "Add an activity").getByRole("combobox").fill("finish");
  await page.keyboard.press("Enter");
  await card(page, "Finish1").waitFor();
  assert.equal(await page.locator(".react-flow__edge").count(), 3);
  await page.keyboard.press("Alt+ArrowLeft");
  await inspector(page).getByText("Leaves through True or False.").waitFor();
  await page.keyboard.press("l");
  await page.waitForTimeout(300);
  const seen = await page.locator("#designer-canvas").boundingBox();
  for (const one of await page.locator(".react-flow__node").all()) {
    const box = await one.boundingBox();
    assert.ok(box.y > seen.y && box.y + box.height < seen.y + seen.height, "what is arranged is seen");
  }
  await page.keyboard.press("f");
  await page.keyboard.press("?");
  await named(page, "heading", "Keys").waitFor();
  await page.keyboard.press("Escape");
}

/** In a narrow window, or with large text, palette and inspector open over the canvas, with the mouse and by keys. */
async function narrow({ page, look }) {
  await page.setViewportSize({ width: 720, height: 450 });
  await inspector(page).waitFor({ state: "hidden" });
  await named(page, "button", "Palette").click();
  await named(page, "complementary", "Palette").getByRole("combobox").waitFor();
  await look("narrow");
  await page.keyboard.press("Escape");
  await named(page, "complementary", "Palette").waitFor({ state: "hidden" });
  await named(page, "button", "Inspector").click();
  await inspector(page).waitFor();
  await named(inspector(page), "button", "Close").click();
  await inspector(page).waitFor({ state: "hidden" });
  await page.locator("#designer-canvas").focus();
  await page.keyboard.press("Enter");
  await page.waitForFunction(() => document.activeElement.closest("#designer-inspector") !== null);
  await page.keyboard.press("Escape");
  await inspector(page).waitFor({ state: "hidden" });
  await page.setViewportSize({ width: 1440, height: 900 });
  await inspector(page).waitFor();
}

/** What the server finds stands in the list without a save; a click leads to its activity. */
async function checked({ page, look }) {
  await card(page, "WriteLine1").click();
  const text = () => field(page, "Text");
  await text().getByLabel("Language of Text").selectOption("JavaScript");
  await text().locator(".cm-content").click();
  await page.keyboard.press("Control+a");
  await page.keyboard.type("var a = = 1");
  await page.getByRole("button", { name: /^Problems/ }).click();
  await page.getByText("Found by the server").waitFor();
  await look("checked");
  await card(page, "FlowDecision1").click();
  await page.getByRole("tabpanel").getByRole("button").filter({ hasText: "WriteLine1" }).first().click();
  await text().locator(".cm-content").waitFor();
  await text().getByLabel("Language of Text").selectOption("Literal");
  await text().getByLabel("Text", { exact: true }).fill("Hello");
  await page.getByText("Found by the server").waitFor({ state: "detached" });
  await named(page, "button", "Hide").click();
}

/** The button asks as the key does. */
async function publish(page) {
  await named(page, "button", "Publish").click();
  await named(named(page, "dialog", "Publish this workflow?"), "button", "Publish").click();
}

async function save({ page, look, expect }, world) {
  await page.keyboard.press("Control+s");
  await page.getByText("Saved as version 1").waitFor();
  await page.waitForURL(/definitions\/[0-9a-f]+\/edit/);
  await page.getByRole("navigation", { name: "Where you are" }).getByText("Edit", { exact: true }).waitFor();
  world.id = decodeURIComponent(new URL(page.url()).pathname.split("/").at(-2));
  world.made.push(world.id);
  const doc = await stored(world.call, world.id);
  assert.equal(doc.root.activities.length, 4);
  assert.equal(doc.root.connections.length, 3);
  await card(page, "WriteLine1").click();
  await field(page, "Text").getByLabel("Language of Text").selectOption("JavaScript");
  await field(page, "Text").locator(".cm-content").click();
  await page.keyboard.press("Control+a");
  await page.keyboard.type("var a = = 1");
  expect(/status of 400/);
  await publish(page);
  await page.getByText("It is not published").waitFor();
  await look("not-published");
  await page.keyboard.press("Escape");
  await page.getByText("Found by the server").waitFor();
  await look("problems");
  await page.locator(".react-flow__pane").click({ position: { x: 20, y: 20 } });
  await named(page, "button", "Run").click();
  const running = named(page, "dialog", "Run this version");
  await named(running, "button", "Run").click();
  await running.getByText("It was not started").waitFor();
  await look("not-started");
  await running.getByRole("button").filter({ hasText: "WriteLine1" }).first().click();
  await running.waitFor({ state: "detached" });
  await field(page, "Text").locator(".cm-content").click();
  await page.keyboard.press("Control+a");
  await page.keyboard.type("'Amount is ' + getAmount()");
  await publish(page);
  await page.getByText("is published").first().waitFor();
  await look("published");
  await page.keyboard.press("Escape");
}

async function run({ page, look }) {
  await named(page, "button", "Run").click();
  await page.getByLabel("Amount (Int32)").fill("30");
  await look("run-dialog");
  await page.getByRole("dialog").getByRole("button", { name: "Run" }).click();
  await page.getByRole("status").filter({ hasText: "Finished" }).first().waitFor();
  await page.waitForTimeout(1200);
  await look("run");
  await named(page, "button", "Hide the run").first().click();
}

async function text({ page, look }) {
  await page.getByRole("tab", { name: "Text" }).click();
  const content = page.locator('.cm-content[aria-label="The definition as JSON"]');
  await content.waitFor();
  await content.click();
  await page.keyboard.press("Control+Home");
  await page.keyboard.type("!");
  await page.getByText(/Line 1, column 1: .* The graph stays as it was\./).waitFor();
  await look("text-broken");
  await page.keyboard.press("Backspace");
  await page.getByText("Graph and text are the same.").waitFor();
  await page.keyboard.press("Control+f");
  const search = page.locator(".cm-search");
  await search.getByLabel("Find").pressSequentially("FlowDecision1");
  await page.keyboard.press("Enter");
  await page.locator(".cm-searchMatch-selected").waitFor();
  await look("text-search");
  await search.getByLabel("Find").press("Escape");
  await search.waitFor({ state: "detached" });
  await named(page, "button", "Hide").click();
}

/** A key asks before it publishes: what is published, and what is new; Enter says yes. */
async function asked({ page, look }) {
  await card(page, "WriteLine1").click();
  await inspector(page).getByLabel("Title").fill("Says it");
  await page.locator("#designer-canvas").focus();
  await page.keyboard.press("p");
  const dialog = named(page, "dialog", "Publish this workflow?");
  await dialog.getByText(/^What was changed since version \d+ becomes version \d+/).waitFor();
  await dialog.getByText("1 change since the published version").waitFor();
  await look("publish-asked");
  await page.keyboard.press("Escape");
  await dialog.waitFor({ state: "detached" });
  await page.keyboard.press("Control+z");
  await card(page, "WriteLine1").waitFor();
  await page.locator("#designer-canvas").focus();
  await page.keyboard.press("p");
  await dialog.getByText(/is published already, and nothing was changed since/).waitFor();
  await named(dialog, "button", "Publish").waitFor();
  await page.keyboard.press("Enter");
  await page.getByText("is published").first().waitFor();
  await dialog.waitFor({ state: "detached" });
  await page.keyboard.press("Escape");
}

/** A draft that has run never changes: what is changed after the run is published as the next version. */
async function ranDraft({ page }, world) {
  const id = "browser-ran";
  world.made.push(id);
  const line = { type: "Elsa.WriteLine", id: "line", name: "Line", text: "x" };
  const model = {
    definitionId: id,
    name: "Ran",
    root: { type: "Elsa.Sequence", id: "all", activities: [line] },
  };
  await world.call("POST", "/workflow-definitions", { model, publish: false });
  await page.goto(`${world.studio}/definitions/${id}/edit`);
  await card(page, "Line").waitFor();
  await page.locator("#designer-canvas").focus();
  await page.keyboard.press("r");
  await named(named(page, "dialog", "Run this version"), "button", "Run").click();
  await page.getByRole("status").filter({ hasText: "Finished" }).first().waitFor();
  await named(page, "button", "Hide the run").first().click();
  await named(page, "button", "Hide").click();
  const dialog = named(page, "dialog", "Publish this workflow?");
  await named(page, "button", "Publish").click();
  await dialog.getByText("The draft, version 1, is what triggers and calls start from then on.").waitFor();
  await dialog.getByText("No version is published yet.").waitFor();
  await page.keyboard.press("Escape");
  await select(page, "Line");
  await inspector(page).getByLabel("Title").fill("Changed");
  await page.keyboard.press("Escape");
  await page.keyboard.press("p");
  await dialog.getByText(/^What was changed since version 1 becomes version 2/).waitFor();
  await page.keyboard.press("Enter");
  await page.getByText("Version 2 is published").waitFor();
  await page.keyboard.press("Escape");
}

async function nested({ page, look }) {
  await page.locator(".react-flow__pane").click({ position: { x: 20, y: 20 } });
  await page.locator("#designer-canvas").focus();
  await page.keyboard.press("a");
  await named(page, "dialog", "Add an activity").getByRole("combobox").fill("for each");
  await named(page, "dialog", "Add an activity")
    .getByRole("option", { name: /^For Each/ })
    .click();
  await card(page, "ForEach1").locator(".chips button").first().click();
  await page.getByText("this place gets a flowchart").waitFor();
  await named(page, "button", "Add an activity").click();
  await named(page, "dialog", "Add an activity").getByRole("combobox").fill("write line");
  await page.keyboard.press("Enter");
  await card(page, "WriteLine2").waitFor();
  await look("nested");
  await page.getByRole("tab", { name: "Tree" }).click();
  await page.getByRole("treeitem", { name: /WriteLine2/ }).waitFor();
  await page.getByRole("treeitem", { name: /FlowDecision1/ }).click();
  await card(page, "FlowDecision1").waitFor();
  await look("tree");
  await page.getByRole("tab", { name: "Palette" }).click();
  await page.keyboard.press("Control+s");
  await page.getByText("Saved as version").last().waitFor();
}

async function conflict({ page, look, expect }, world) {
  const theirs = await stored(world.call, world.id);
  theirs.description = "Saved by another";
  theirs.root.activities.find((one) => one.name === "Finish1").metadata.displayText = "The end";
  await world.call("POST", "/workflow-definitions", { model: theirs, publish: false });
  await card(page, "WriteLine1").click();
  await inspector(page).getByLabel("Title").fill("Greets");
  expect(/status of 412/);
  await named(page, "button", "Save draft").click();
  await page.getByText("Somebody else has saved this definition").waitFor();
  await page.getByText("can be joined").waitFor();
  await look("conflict");
  await named(page, "button", "Join both").click();
  await page.getByText("That is not saved yet").waitFor();
  await card(page, "The end").waitFor();
  await card(page, "Greets").waitFor();
  await named(page, "button", "Save draft").click();
  await page.getByText("Saved as version").last().waitFor();
  await page.waitForTimeout(500);
  const doc = await stored(world.call, world.id);
  assert.equal(doc.description, "Saved by another");
  assert.ok(doc.root.activities.some((one) => one.metadata?.displayText === "Greets"));
  await named(page, "button", "Versions").click();
  // What is drawn is compared here: nothing that is not saved is left behind for it.
  await named(page, "button", "Compare with the graph: version 1").click();
  await named(page, "heading", "What the graph has otherwise than version 1").waitFor();
  await page.getByText("Saved by another").first().waitFor();
  await look("versions-compared");
  await named(page, "button", "Compare with the graph: version 1").click();
  await named(page, "link", "Version 1").click();
  await card(page, "WriteLine1").waitFor();
  await look("versions");
  await card(page, "WriteLine1").click();
  await inspector(page).getByLabel("Title").fill("From the first");
  await named(page, "button", "Save draft").click();
  await page.getByText(/^Version 1 is not the latest/).waitFor();
  await look("older");
  await named(page, "button", "Save as the new draft").click();
  await page.getByRole("dialog").waitFor({ state: "detached" });
  await page.getByText("This is not the latest version.").waitFor({ state: "detached" });
  const now = await stored(world.call, world.id);
  assert.ok(now.root.activities.some((one) => one.metadata?.displayText === "From the first"));
  assert.ok(now.isLatest && now.version > 1);
}

/** What is opened and saved without a change is the same; so is a copy that only the version tells apart. */
async function unchanged({ page, look }, world) {
  const own = new URL("../../../staunch/examples/order-approval.json", import.meta.url);
  const files = [own, ...(process.env.STAUNCH_SAMPLE ? [process.env.STAUNCH_SAMPLE] : [])];
  for (const [at, name] of files.entries()) {
    const definition = JSON.parse(await readFile(name, "utf8"));
    definition.definitionId = `browser-kept-${at}`;
    world.made.push(definition.definitionId);
    await world.call("POST", "/workflow-definitions", { model: definition, publish: false });
    const before = await stored(world.call, definition.definitionId);
    await page.goto(`${world.studio}/definitions/${definition.definitionId}/edit`);
    await page.locator(".react-flow__node").first().waitFor();
    await look(`kept-${at}`);
    assert.ok(await named(page, "button", "Save draft").isDisabled());
    const saved = page.waitForResponse(
      (answer) => answer.request().method() === "POST" && /workflow-definitions$/.test(answer.url()),
    );
    await page.locator("#designer-canvas").focus();
    await page.keyboard.press("Control+s");
    assert.equal((await saved).status(), 200);
    assert.deepEqual(await stored(world.call, definition.definitionId), before);
  }
}

export const steps = [
  draw,
  dropLine,
  expressions,
  back,
  undo,
  keyboard,
  narrow,
  checked,
  save,
  run,
  asked,
  text,
  nested,
  conflict,
  unchanged,
  ranDraft,
  ...moreSteps,
  tryOut,
  cases,
  shortForm,
];
