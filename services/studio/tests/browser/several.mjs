// Several definitions at once: imported as files, and published together. A flow as long as it gets, and an answer
// that leaves little room for it.
import assert from "node:assert/strict";
import { named, notice } from "./find.mjs";

const IDS = ["browser-several-1", "browser-several-2"];
const LONG = "browser-long";
const line = (id) => ({ id, type: "Elsa.WriteLine", text: id });

/** Of each file it is said what became of it; several are published only after a question. */
export async function several({ page, look }, { studio, made }) {
  made.push(...IDS);
  const [one, two] = IDS;
  const short = `definitionId: ${one}\nname: Several, one\nroot:\n  - type: WriteLine\n    text: Hello\n`;
  const full = JSON.stringify({ definitionId: two, name: "Several, two", root: line("say") });
  await page.goto(`${studio}/definitions?q=browser-several`);
  await page.locator("input[type=file]").setInputFiles([
    { name: "one.yaml", mimeType: "application/yaml", buffer: Buffer.from(short) },
    { name: "two.json", mimeType: "application/json", buffer: Buffer.from(full) },
  ]);
  const imported = named(page, "dialog", "2 files imported as drafts.");
  await imported.getByRole("listitem").filter({ hasText: "one.yaml" }).getByText("New").waitFor();
  await named(imported, "link", "Several, two").waitFor();
  await look("definitions-imported");
  await named(imported, "button", "Close").click();
  for (const name of ["Several, one", "Several, two"])
    await page.getByRole("row").filter({ hasText: name }).getByRole("checkbox").check();
  await named(page, "button", "Publish").click();
  const sure = named(page, "button", "Publish 2 definitions");
  assert.equal(await sure.isDisabled(), true);
  await page.getByLabel("Type 2 to confirm").fill("2");
  await look("definitions-publish");
  await sure.click();
  await notice(page, "2 of 2 published.");
}

/** How many points of a part of the page are darker than its ground and its edge. */
async function inkOf(page, part) {
  const png = await part.screenshot({ caret: "initial" });
  return page.evaluate(async (data) => {
    const image = new Image();
    image.src = `data:image/png;base64,${data}`;
    await image.decode();
    const canvas = new OffscreenCanvas(image.width - 16, image.height - 16);
    const context = canvas.getContext("2d");
    context.drawImage(image, -8, -8);
    const points = context.getImageData(0, 0, canvas.width, canvas.height).data;
    let count = 0;
    for (let at = 0; at < points.length; at += 4) if (points[at + 1] < 215) count += 1;
    return count;
  }, png.toString("base64"));
}

/** A flow of 150 activities in a row is seen in its overview. */
export async function long({ page }, { studio, call, made }) {
  made.push(LONG);
  const activities = Array.from({ length: 150 }, (_, at) => ({
    ...line(`step${at}`),
    metadata: { designer: { position: { x: at * 300, y: 0 } } },
  }));
  const connections = activities.slice(1).map(({ id }, at) => ({
    source: { activity: `step${at}`, port: "Done" },
    target: { activity: id, port: "In" },
  }));
  const root = { id: "flow", type: "Elsa.Flowchart", activities, connections };
  await call("POST", "/workflow-definitions/import", { definitionId: LONG, name: "Long", root });
  await page.goto(`${studio}/definitions/${LONG}`);
  await page.locator(".react-flow__minimap-node").nth(149).waitFor({ state: "attached" });
  const map = await inkOf(page, page.locator(".react-flow__minimap"));
  await page.goto(`${studio}/definitions/${LONG}/edit`);
  const overview = named(page, "img", "Overview");
  await overview.waitFor();
  assert.ok(map > 100, `the overview of a page shows ${map} points`);
  const drawn = await inkOf(page, overview);
  assert.ok(drawn > 100, `the overview of the designer shows ${drawn} points`);
}

/** What an open answer pushes down is reached by scrolling: the bar of time lies over none of it. */
export async function opened({ page, look }, { studio, waiting }) {
  await page.setViewportSize({ width: 1280, height: 520 });
  await page.goto(`${studio}/instances/${waiting}`);
  await named(page, "button", "Zoom In").waitFor();
  await page.getByText(/^What can be done/).click();
  await look("instance-opened");
  const covered = await page.evaluate(() =>
    [...document.querySelectorAll(".react-flow__controls-button")]
      .filter((button) => {
        button.scrollIntoView({ block: "nearest" });
        const { left, width, bottom } = button.getBoundingClientRect();
        return document.elementFromPoint(left + width / 2, bottom - 2)?.closest("button") !== button;
      })
      .map((button) => button.title),
  );
  await page.setViewportSize({ width: 1440, height: 900 });
  assert.deepEqual(covered, [], "something lies over the buttons of the map");
}
