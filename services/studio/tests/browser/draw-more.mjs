// Containers, lists, state machines and lines, as a person works with them.
import assert from "node:assert/strict";
import { card, drag, edge, field, inspector, named, stored } from "./hands.mjs";

const value = (type, text, typeName = "String") => ({ typeName, expression: { type, value: text } });
const at = (x, y) => ({ designer: { position: { x, y } } });
const way = (from, to, port = "Done") => ({
  source: { activity: from, port },
  target: { activity: to, port: "In" },
});

const mixed = {
  definitionId: "browser-mixed",
  name: "Mixed",
  variables: [{ id: "t", name: "Total", typeName: "Int32", isArray: false }],
  root: {
    type: "Elsa.Flowchart",
    id: "flow",
    activities: [
      { id: "one", name: "One", type: "Elsa.WriteLine", text: value("Literal", "one"), metadata: at(0, 0) },
      { id: "two", name: "Two", type: "Elsa.WriteLine", text: value("Literal", "two"), metadata: at(300, 0) },
      {
        id: "three",
        name: "Three",
        type: "Elsa.WriteLine",
        text: value("Literal", "three"),
        metadata: at(600, 0),
      },
      {
        id: "free",
        name: "Free",
        type: "Elsa.WriteLine",
        text: value("Literal", "free"),
        metadata: at(300, 240),
      },
      {
        id: "cron",
        name: "Clock",
        type: "Elsa.Cron",
        cronExpression: value("Literal", "0 0 * * * *"),
        metadata: at(0, 240),
      },
      {
        id: "machine",
        name: "Machine",
        type: "Elsa.StateMachine",
        states: [{ name: "Open" }, { name: "Closed" }],
        transitions: [],
        metadata: at(600, 240),
      },
    ],
    connections: [way("one", "two"), way("two", "three")],
  },
};

export async function openMixed({ page, look }, world) {
  world.made.push(mixed.definitionId);
  await world.call("POST", "/workflow-definitions", { model: mixed, publish: false });
  await page.goto(`${world.studio}/definitions/${mixed.definitionId}/edit`);
  await card(page, "Machine").waitFor();
  await look("mixed");
}

/** The panels have the sizes that somebody gave them, also after the page is loaded again. */
export async function panels({ page, look }) {
  await card(page, "One").click();
  const line = named(page, "separator", "Size of Inspector");
  const width = async () => Math.round((await inspector(page).boundingBox()).width);
  const usual = await width();
  const from = await edge(line, "middle");
  await drag(page, from, { x: from.x - 100, y: from.y });
  assert.equal(await width(), usual + 100);
  await page.reload();
  await card(page, "Machine").waitFor();
  assert.equal(await width(), usual + 100);
  await card(page, "One").click();
  await line.press("ArrowRight");
  assert.equal(await width(), usual + 84);
  await line.press("Home");
  assert.equal(String(await width()), await line.getAttribute("aria-valuemin"));
  await look("panel-small");
  const least = await width();
  await named(page, "button", "Make Inspector larger").click();
  assert.ok((await width()) > least, "a click makes it larger, too");
  await line.dblclick();
  assert.equal(await width(), usual);
  // An arrow on the line moves no card.
  await named(page, "button", "Undo: nothing").waitFor();
  await named(page, "button", "Variables").click();
  const drawer = page.locator("#designer-drawer");
  const edgeOfDrawer = named(page, "separator", "Size of Problems, variables, text and runs");
  const height = async () => Math.round((await drawer.boundingBox()).height);
  const before = await height();
  await edgeOfDrawer.press("ArrowUp");
  assert.equal(await height(), before + 16);
  await edgeOfDrawer.press("End");
  await look("drawer-large");
  assert.ok((await page.locator("#designer-canvas").boundingBox()).height > 100, "the canvas keeps a part");
  await edgeOfDrawer.dblclick();
  assert.equal(await height(), before);
  await named(page, "button", "Hide").click();
}

export async function insertIntoLine({ page }) {
  const from = await edge(card(page, "Free"), "middle");
  const [left, right] = [await edge(card(page, "Two"), "right"), await edge(card(page, "Three"), "left")];
  await drag(page, from, { x: (left.x + right.x) / 2, y: left.y });
  await page.waitForFunction(() => document.querySelectorAll(".react-flow__edge").length === 3);
  const boxes = await Promise.all(["Two", "Free", "Three"].map((name) => card(page, name).boundingBox()));
  for (const [one, next] of [boxes.slice(0, 2), boxes.slice(1)])
    assert.ok(one.x + one.width < next.x, "a card on a line covers nothing");
  await page.locator("#designer-canvas").focus();
  await page.keyboard.press("Control+z");
  await page.waitForFunction(() => document.querySelectorAll(".react-flow__edge").length === 2);
}

/** Activities in a box are copied, not the text beside the canvas. */
export async function boxCopy({ page }) {
  const canvas = await page.locator("#designer-canvas").boundingBox();
  await page.keyboard.down("Shift");
  await drag(
    page,
    { x: canvas.x + 4, y: canvas.y + 4 },
    { x: canvas.x + canvas.width - 4, y: canvas.y + canvas.height - 80 },
  );
  await page.keyboard.up("Shift");
  assert.equal(await page.evaluate(() => document.getSelection().toString()), "");
  await page.keyboard.press("Control+c");
  const copied = JSON.parse(await page.evaluate(() => navigator.clipboard.readText()));
  assert.ok(copied.activities.length > 2);
  await page.keyboard.press("Escape");
  // At its edge the canvas has moved along.
  await page.keyboard.press("f");
  await page.waitForTimeout(300);
}

/** Waits until one card stands above the other. */
const inOrder = (page, ...names) =>
  page.waitForFunction(([first, second]) => {
    const top = (name) =>
      [...document.querySelectorAll(".react-flow__node")]
        .find((one) => one.textContent.includes(name))
        ?.getBoundingClientRect().top;
    return top(first) < top(second);
  }, names);

export async function wrapAndReorder({ page, look }) {
  await card(page, "One").click();
  await card(page, "Two").click({ modifiers: ["Shift"] });
  await inspector(page).getByText("2 activities").waitFor();
  await look("many");
  await named(page, "button", "Wrap in a Sequence").click();
  await card(page, "Sequence1").locator(".chips button").first().click();
  await card(page, "Two").waitFor();
  await look("list");
  await card(page, "Two").click();
  await page.locator("#designer-canvas").focus();
  await page.keyboard.press("ArrowUp");
  await inOrder(page, "Two", "One");
  await reorderCards(page);
  await reorderTree(page, look);
  await page.locator("#designer-canvas").focus();
  await page.keyboard.press("u");
  await card(page, "Sequence1").waitFor();
  assert.equal(await page.locator(".react-flow__edge").count(), 1);
}

/** The mouse does the same as the key, in one step; what is let go beside the list stays. */
async function reorderCards(page) {
  const line = page.locator("svg[data-guides]");
  const dragTwo = async (by) => {
    const [from, to] = [await edge(card(page, "Two"), "middle"), await edge(card(page, "One"), "middle")];
    await page.mouse.move(from.x, from.y);
    await page.mouse.down();
    // A drag is measured from the first move on that is long enough.
    await page.mouse.move(from.x, from.y + 5, { steps: 5 });
    await page.mouse.move(to.x + by, to.y + 20, { steps: 6 });
  };
  await dragTwo(0);
  await line.waitFor({ state: "attached" });
  await page.mouse.up();
  await line.waitFor({ state: "detached" });
  await inOrder(page, "One", "Two");
  await page.locator("#designer-canvas").focus();
  await page.keyboard.press("Control+z");
  await inOrder(page, "Two", "One");
  await dragTwo(400);
  assert.equal(await line.count(), 0);
  await page.mouse.up();
  await inOrder(page, "Two", "One");
  await named(page, "button", "Undo: Reorder").waitFor();
}

async function reorderTree(page, look) {
  await named(page, "tab", "Tree").click();
  const row = (name) => named(page, "treeitem", name);
  const isFirst = async (one, other) => (await row(one).boundingBox()).y < (await row(other).boundingBox()).y;
  assert.ok(await isFirst("Two", "One"));
  const [from, to] = [await edge(row("One"), "middle"), await edge(row("Two"), "middle")];
  await page.mouse.move(from.x, from.y);
  await page.mouse.down();
  await page.mouse.move(to.x, to.y, { steps: 4 });
  await page.mouse.move(to.x, to.y - 8, { steps: 2 });
  await page.locator("[role=tree] [data-drop]").waitFor();
  await page.mouse.up();
  await page.locator("[role=tree] [data-drop]").waitFor({ state: "detached" });
  assert.ok(await isFirst("One", "Two"));
  await named(inspector(page), "button", "Down in the list").click();
  await inOrder(page, "Two", "One");
  await look("reordered");
  await page.locator("#designer-canvas").focus();
  await page.keyboard.press("Control+z");
  await inOrder(page, "One", "Two");
  await page.keyboard.press("Control+z");
  await inOrder(page, "Two", "One");
  await named(page, "tab", "Palette").click();
}

/** What is in a container is changed without leaving the page. */
export async function inPlace({ page, look }) {
  await named(page, "button", "Show what is in Sequence1 here").click();
  const inner = (id) => page.locator(`[data-inside="${id}"]`);
  await inner("one").waitFor();
  await inner("one").click();
  await inspector(page).getByLabel("Title").fill("First of all");
  await inner("one").filter({ hasText: "First of all" }).waitFor();
  await look("in-place");
  const top = async (id) => (await inner(id).boundingBox()).y;
  assert.ok((await top("two")) < (await top("one")));
  const [from, to] = [await edge(inner("two"), "middle"), await edge(inner("one"), "middle")];
  await drag(page, from, { x: to.x, y: to.y + 5 });
  await named(page, "button", "Undo: Reorder").waitFor();
  assert.ok((await top("one")) < (await top("two")));
  await page.locator("#designer-canvas").focus();
  await page.keyboard.press("Control+z");
  await named(page, "button", "Redo: Reorder").waitFor();
  await inner("two").click();
  await page.locator("#designer-canvas").focus();
  await page.keyboard.press("x");
  await inner("two").waitFor({ state: "detached" });
  await page.keyboard.press("Control+z");
  await inner("two").waitFor();
  await page.keyboard.press("Control+z");
  await inner("one").filter({ hasText: "One" }).waitFor();
  await named(page, "button", "Show what is in Sequence1 here").click();
  await inner("one").waitFor({ state: "detached" });
}

/** A line shows where a card is in line with another, and it is put there. */
export async function guides({ page }) {
  const top = async (name) => Math.round((await card(page, name).boundingBox()).y);
  const [free, three] = [card(page, "Free"), card(page, "Three")];
  const [from, to] = [await edge(free, "middle"), await edge(three, "middle")];
  await page.mouse.move(from.x, from.y);
  await page.mouse.down();
  // A drag is measured from the first move on that is long enough.
  await page.mouse.move(from.x + 5, from.y, { steps: 5 });
  await page.mouse.move(from.x + 60, to.y + 3, { steps: 6 });
  await page.locator("svg[data-guides]").waitFor({ state: "attached" });
  await page.mouse.up();
  await page.locator("svg[data-guides]").waitFor({ state: "detached" });
  assert.equal(await top("Free"), await top("Three"));
  await page.locator("#designer-canvas").focus();
  await page.keyboard.press("Control+z");
}

export async function editors({ page, look }) {
  await card(page, "Clock").click();
  assert.equal(await field(page, "CronExpression").locator("li").count(), 5);
  await field(page, "TimeZone").getByLabel("Time zone", { exact: true }).fill("Asia/Tokyo");
  await field(page, "CronExpression").getByText("Asia/Tokyo", { exact: true }).waitFor();
  await field(page, "CronExpression").getByLabel("Cron expression", { exact: true }).fill("61 * * * *");
  await field(page, "CronExpression").getByRole("alert").waitFor();
  await look("cron");
  await field(page, "CronExpression").getByLabel("Cron expression", { exact: true }).fill("*/5 * * * *");
  await field(page, "CronExpression").getByRole("alert").waitFor({ state: "detached" });
  await card(page, "Free").click();
  await field(page, "Text").getByLabel("Language of Text").selectOption("Variable");
  await field(page, "Text").getByLabel("Text", { exact: true }).selectOption("Total");
}

export async function machine({ page, look }) {
  await card(page, "Machine").dblclick();
  await card(page, "Closed").waitFor();
  await card(page, "Open").hover();
  await drag(
    page,
    await edge(card(page, "Open").locator(".source"), "middle"),
    await edge(card(page, "Closed"), "middle"),
  );
  const word = page.locator(".react-flow__edge-text").filter({ hasText: "Open to Closed" });
  await word.waitFor();
  await word.click({ force: true });
  await inspector(page).locator(".cm-content").click();
  await page.keyboard.type("variables.To");
  const offer = page.locator(".cm-tooltip-autocomplete li").filter({ hasText: "variables.Total" }).first();
  const code = inspector(page).locator(".cm-content").filter({ hasText: "variables.Total" });
  await offer.waitFor();
  // A list that is made anew at this moment does not hear the click.
  while ((await code.count()) === 0) await offer.click();
  await page.keyboard.type(" > 3");
  await look("transition");
  await page.locator(".react-flow__pane").click({ position: { x: 30, y: 30 } });
  await named(page, "button", "Add a state").click();
  await card(page, "State1").waitFor();
  await inspector(page).getByLabel("Name").fill("Late");
  await page.keyboard.press("Tab");
  await card(page, "Late").waitFor();
  await page.keyboard.press("Control+d");
  await card(page, "Late1").waitFor();
  await page.keyboard.press("Control+z");
  await card(page, "Late1").waitFor({ state: "detached" });
  await look("machine");
}

export async function savedAgain({ page }, { call }) {
  await page.locator("#designer-canvas").focus();
  await page.keyboard.press("Control+s");
  await page.getByText("Saved as version 1").waitFor();
  const { root } = await stored(call, mixed.definitionId);
  const find = (id) => root.activities.find((one) => one.id === id);
  assert.deepEqual(
    find("machine").states.map((one) => one.name),
    ["Open", "Closed", "Late"],
  );
  assert.deepEqual(find("machine").transitions, [
    {
      name: "Open to Closed",
      from: "Open",
      to: "Closed",
      condition: { type: "JavaScript", value: "variables.Total > 3" },
    },
  ]);
  const sequence = root.activities.find((one) => one.type === "Elsa.Sequence");
  assert.deepEqual(
    sequence.activities.map((one) => one.id),
    ["two", "one"],
  );
  assert.deepEqual(find("free").text.expression, {
    type: "Variable",
    value: { id: "t", name: "Total", typeName: "Int32", isArray: false },
  });
  assert.equal(find("cron").cronExpression.expression.value, "*/5 * * * *");
  await page.reload();
  await card(page, "Late").waitFor();
}

export const moreSteps = [
  openMixed,
  panels,
  insertIntoLine,
  boxCopy,
  wrapAndReorder,
  inPlace,
  guides,
  editors,
  machine,
  savedAgain,
];
