// A test run becomes a test of the workflow: it passes, fails once the workflow does something else, and goes along
// with the definition and with test files.
import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { card, field, named, select, stored } from "./hands.mjs";

const KEPT = "Staunch.Tests";
const NAME = "It says hello";

const tested = {
  definitionId: "browser-cases",
  name: "With tests",
  customProperties: { Other: 1 },
  root: {
    type: "Elsa.Flowchart",
    id: "flow",
    activities: [
      {
        id: "say",
        name: "Say",
        type: "Elsa.WriteLine",
        text: { typeName: "String", expression: { type: "Literal", value: "hello" } },
        metadata: { designer: { position: { x: 0, y: 0 } } },
      },
    ],
    connections: [],
  },
};

const FILE = "tests:\n  From git:\n    expect: {status: Finished}\n  Another:\n    expect: {lines: [bye]}\n";

const panel = (page) => page.getByRole("tabpanel");
const row = (page, name) => panel(page).locator(`[data-case="${name}"]`);
const passed = (page, text) => panel(page).getByRole("status").getByText(text, { exact: true }).waitFor();

async function write(page, text) {
  const dialog = page.getByRole("dialog");
  await dialog.locator(".cm-content").click();
  await page.keyboard.press("Control+a");
  await page.keyboard.insertText(text);
  await named(dialog, "button", "Apply").click();
}

async function say(page, text) {
  await select(page, "Say");
  await field(page, "Text").getByLabel("Text", { exact: true }).fill(text);
}

export async function cases({ page, look }, world) {
  world.made.push(tested.definitionId);
  await world.call("POST", "/workflow-definitions", { model: tested, publish: false });
  await page.goto(`${world.studio}/definitions/${tested.definitionId}/edit`);
  await card(page, "Say").waitFor();
  await page.locator("#designer-canvas").focus();
  await page.keyboard.press("t");
  await named(page, "tab", "Tests").click();
  await panel(page).getByText("This workflow has no tests yet.").waitFor();
  await look("cases-none");

  await named(page, "tab", "Test run").click();
  await named(panel(page), "button", "Test run").click();
  await page.locator('[data-trial="Finished"]').waitFor();
  await named(panel(page), "button", "Save as test").click();
  await page.getByRole("dialog").getByLabel("Name", { exact: true }).fill(NAME);
  await look("cases-save");
  await page.keyboard.press("Enter");
  await row(page, NAME).getByText("Not run").waitFor();
  await named(panel(page), "button", "Run all").click();
  await passed(page, "1 of 1 pass");
  await look("cases-passed");

  await say(page, "bye");
  await row(page, NAME).getByText("Changed since it ran").waitFor();
  await named(row(page, NAME), "button", `Run ${NAME}`).click();
  await passed(page, "0 of 1 pass");
  const differs = row(page, NAME).getByRole("group", { name: `What differs in ${NAME}` });
  assert.match(await differs.textContent(), /^lines differs[\s\S]*-.*hello[\s\S]*\+.*bye/);
  await look("cases-failed");

  await named(row(page, NAME), "button", `Edit ${NAME}`).click();
  await write(page, `tests:\n  ${NAME}:\n    expect: {lines: bye}\n`);
  await page.getByRole("dialog").getByText("Line 3, column 21: write a list").waitFor();
  await look("cases-flaw");
  await write(page, "tests:\n  It says bye:\n    expect: {lines: [bye]}\n");
  await row(page, "It says bye").waitFor();
  await named(panel(page), "button", "Run all").click();
  await passed(page, "1 of 1 pass");

  const given = page.waitForEvent("download");
  await named(panel(page), "button", "Export").click();
  const file = await given;
  assert.equal(file.suggestedFilename(), "workflow-definition-browser-cases.test.yaml");
  assert.match(await readFile(await file.path(), "utf8"), /^tests:\n {2}It says bye:\n/);
  const picker = panel(page).locator("input[type=file]");
  const sent = (text) => ({ name: "git.test.yaml", mimeType: "application/yaml", buffer: Buffer.from(text) });
  await picker.setInputFiles(sent("tests: {It: {}}"));
  await page.getByText(/git\.test\.yaml is no test file.*the test expects nothing/).waitFor();
  await picker.setInputFiles(sent(FILE));
  await row(page, "From git").waitFor();
  await row(page, "It says bye").waitFor({ state: "detached" });
  await panel(page).getByText("Run the exported file in a terminal").click();
  await panel(page).getByText("staunch test workflow-definition-browser-cases.test.yaml").waitFor();
  await named(panel(page), "button", "Run all").click();
  await passed(page, "2 of 2 pass");

  await named(page, "button", "Save draft").click();
  await page.getByText("Unsaved changes").waitFor({ state: "detached" });
  const custom = async () => (await stored(world.call, tested.definitionId)).customProperties;
  const tests = { "From git": { expect: { status: "Finished" } }, Another: { expect: { lines: ["bye"] } } };
  assert.deepEqual(await custom(), { Other: 1, [KEPT]: { tests } });

  // By keyboard: what is deleted is one step to undo, and the last test leaves nothing behind.
  await named(row(page, "Another"), "button", "Delete Another").focus();
  await page.keyboard.press("Enter");
  await row(page, "Another").waitFor({ state: "detached" });
  await page.locator("#designer-canvas").focus();
  await page.keyboard.press("Control+z");
  await row(page, "Another").waitFor();
  for (const name of ["Another", "From git"]) {
    await named(row(page, name), "button", `Delete ${name}`).click();
    await row(page, name).waitFor({ state: "detached" });
  }
  await named(page, "button", "Save draft").click();
  await page.getByText("Unsaved changes").waitFor({ state: "detached" });
  assert.deepEqual(await custom(), { Other: 1 });
  await named(page, "button", "Hide").click();
}
