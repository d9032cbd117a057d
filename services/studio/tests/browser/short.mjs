// A workflow is changed as text in the short form: the server reads it, and the graph follows.
import assert from "node:assert/strict";
import { card, inspector, named, select, stored } from "./hands.mjs";

const at = (x, y) => ({ designer: { position: { x, y } } });
const line = (id, name, x) => ({ id, name, type: "Elsa.WriteLine", metadata: at(x, 40) });

const short = {
  definitionId: "browser-short",
  name: "Short",
  root: {
    type: "Elsa.Flowchart",
    id: "flow",
    activities: [line("one", "One", 10), line("two", "Two", 333)],
    connections: [{ source: { activity: "one", port: "Done" }, target: { activity: "two", port: "In" } }],
  },
};

const YAML = `definitionId: browser-short
name: Short
root:
  id: flow
  flow:
    one:
      type: WriteLine
      name: One
      text: first
      next: two
    two:
      type: WriteLine
      name: Two
      next: three
    three:
      type: WriteLine
      name: Three
      text: done
`;

export async function shortForm({ page, look, expect }, world) {
  world.made.push(short.definitionId);
  await world.call("POST", "/workflow-definitions", { model: short, publish: false });
  await page.goto(`${world.studio}/definitions/${short.definitionId}/edit`);
  await card(page, "One").waitFor();
  const drawer = page.getByRole("navigation", { name: "Problems, variables, text and runs" });
  await named(drawer, "button", "Text").click();
  await named(page, "button", "YAML").click();
  const content = page.locator('.cm-content[aria-label="The definition in the short form, as YAML"]');
  const same = page.getByText("Graph and text are the same.");
  await content.waitFor();
  await same.waitFor();
  const written = await content.textContent();
  assert.match(written, /flow:/);
  assert.doesNotMatch(written, /designer|expression|isLatest/);

  // What is drawn and not saved is in the text.
  await select(page, "One");
  await inspector(page).getByLabel("Title").fill("The first");
  await content.getByText("displayText: The first").waitFor();
  await look("short-form");
  await page.locator("#designer-canvas").focus();
  await page.keyboard.press("Control+z");
  await card(page, "One").waitFor();
  await same.waitFor();

  const write = async (text) => {
    await content.click();
    await page.keyboard.press("Control+a");
    await page.keyboard.insertText(text);
  };
  await write(YAML);
  await card(page, "Three").waitFor();
  await same.waitFor();
  expect(/status of 400/);
  await write(YAML.replace("next: two", "next: 2"));
  await page.getByText(/Line 10, column 13: next names activities by their ids\. The graph stays/).waitFor();
  await page.locator(".cm-lintRange-error").first().waitFor();
  await look("short-form-flaw");
  await card(page, "Three").waitFor();
  await write(YAML);
  await same.waitFor();
  await named(page, "button", "Save draft").click();
  await page
    .getByText(/^Saved as version/)
    .last()
    .waitFor();
  const saved = await stored(world.call, short.definitionId);
  const { activities, connections } = saved.root;
  assert.deepEqual(
    activities.map((one) => one.name),
    ["One", "Two", "Three"],
  );
  assert.deepEqual(activities[1].metadata, at(333, 40), "a card stays where it was");
  assert.equal(activities[0].text.expression.value, "first");
  assert.equal(connections.length, 2);

  await page.locator("#designer-canvas").focus();
  await page.keyboard.press("Control+z");
  await card(page, "Three").waitFor({ state: "detached" });
  await content.getByText("three", { exact: true }).waitFor({ state: "detached" });
  await named(page, "button", "JSON").click();
  await page.locator('.cm-content[aria-label="The definition as JSON"]').waitFor();
  await named(page, "button", "Hide").click();
}
