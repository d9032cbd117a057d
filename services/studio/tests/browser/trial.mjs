// A workflow is tried out as it is drawn: results are pinned, and the run goes on from them.
import assert from "node:assert/strict";
import { card, inspector, named, stored } from "./hands.mjs";

const value = (type, text, typeName = "String") => ({ typeName, expression: { type, value: text } });
const at = (x, y) => ({ designer: { position: { x, y } } });
const way = (from, to) => ({
  source: { activity: from, port: "Done" },
  target: { activity: to, port: "In" },
});

const tried = {
  definitionId: "browser-trial",
  name: "Tried",
  inputs: [{ name: "Order", type: "String" }],
  variables: [{ id: "rate", name: "Rate", typeName: "Object", isArray: false }],
  root: {
    type: "Elsa.Flowchart",
    id: "flow",
    activities: [
      {
        id: "ask",
        name: "Ask",
        type: "Elsa.SendHttpRequest",
        url: value("JavaScript", "'https://rates.example.com/' + getInput('Order')", "Uri"),
        parsedContent: { typeName: "Object", memoryReference: { id: "rate" } },
        metadata: at(0, 0),
      },
      {
        id: "say",
        name: "Say",
        type: "Elsa.WriteLine",
        text: value("JavaScript", "'costs ' + variables.Rate.price"),
        metadata: at(300, 0),
      },
      {
        id: "wait",
        name: "Wait",
        type: "Elsa.Event",
        eventName: value("Literal", "Paid"),
        metadata: at(600, 0),
      },
      {
        id: "last",
        name: "Last",
        type: "Elsa.WriteLine",
        text: value("Literal", "paid"),
        metadata: at(900, 0),
      },
    ],
    connections: [way("ask", "say"), way("say", "wait"), way("wait", "last")],
  },
};

const panel = (page) => page.getByRole("tabpanel");
const run = (page) => panel(page).getByRole("button", { name: "Test run", exact: true }).click();
const ended = (page, status) => page.locator(`[data-trial="${status}"]`).waitFor();
const isPinned = (page, name) => card(page, name).getByTitle("Pinned", { exact: true });

export async function tryOut({ page, look, expect }, world) {
  world.made.push(tried.definitionId);
  await world.call("POST", "/workflow-definitions", { model: tried, publish: false });
  const before = await stored(world.call, tried.definitionId);
  await page.goto(`${world.studio}/definitions/${tried.definitionId}/edit`);
  await card(page, "Ask").waitFor();
  await page.locator("#designer-canvas").focus();
  await page.keyboard.press("t");
  await panel(page).getByText("Nothing was tried yet.").waitFor();
  await panel(page).getByLabel("Input", { exact: true }).fill("[7]");
  await panel(page).getByRole("alert").filter({ hasText: "A JSON object is expected" }).waitFor();
  await panel(page).getByLabel("Input", { exact: true }).fill('{"Order": "7"}');
  await run(page);
  await panel(page).getByText("activity ask calls GET https://rates.example.com/7").waitFor();
  await look("trial-stopped");

  await named(panel(page), "button", "Pin a result").click();
  const text = inspector(page).getByLabel("Pinned result");
  await text.fill('{"outcomes": "Done"}');
  await inspector(page).getByRole("alert").filter({ hasText: '"outcomes": ["Done"]' }).waitFor();
  await text.fill('{"outcomes": ["Done"], "outputs": {"ParsedContent": {"price": 3}}}');
  await isPinned(page, "Ask").waitFor();
  await run(page);
  await ended(page, "Suspended");
  await panel(page).getByText("Wait waits for").waitFor();
  await named(panel(page), "button", "Pin a result").click();
  await isPinned(page, "Wait").waitFor();
  await run(page);
  await ended(page, "Finished");
  const ran = panel(page).getByRole("list", { name: "What ran, in order" }).getByRole("button");
  assert.equal(await ran.count(), 4);
  await ran.filter({ hasText: "Say" }).click();
  await inspector(page).getByText("costs 3").waitFor();
  await card(page, "Say").getByTitle("Ran as number 2").waitFor();
  await look("trial");

  await named(inspector(page), "button", "Pin this result").click();
  await isPinned(page, "Say").waitFor();
  await named(inspector(page), "button", "Remove the pin").click();
  await isPinned(page, "Say").waitFor({ state: "detached" });
  await named(panel(page), "button", "Test run to Say").click();
  await panel(page).getByText("The run was stopped", { exact: true }).waitFor();
  assert.equal(await ran.count(), 2);
  await named(panel(page), "button", "Hide the test run").click();

  // What is refused has no result: that of the run before is not left standing.
  await run(page);
  await ended(page, "Finished");
  await page.route("**/tests/workflows", (route) =>
    route.fulfill({ status: 400, json: { title: "Bad request", status: 400, detail: "It cannot run." } }),
  );
  expect(/status of 400/);
  await run(page);
  await ended(page, "Refused");
  await panel(page).getByText("It cannot run.").waitFor();
  assert.equal(await ran.count(), 0);
  await look("trial-refused");
  await page.unroute("**/tests/workflows");

  await page.reload();
  await isPinned(page, "Ask").waitFor();
  await panel(page).getByText("2 pinned results").waitFor();
  assert.equal(await panel(page).getByLabel("Input", { exact: true }).inputValue(), '{"Order": "7"}');
  await named(panel(page), "button", "Remove all pins").click();
  await isPinned(page, "Ask").waitFor({ state: "detached" });
  assert.ok(await named(page, "button", "Save draft").isDisabled());
  assert.deepEqual(await stored(world.call, tried.definitionId), before);
  await named(page, "button", "Hide").click();
}
