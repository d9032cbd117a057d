// node tests/browser/designer.mjs http://127.0.0.1:5001 shots
// Draws, saves, publishes and runs a workflow as a person would, on a real server.
// STUDIO=http://localhost:5173/studio tests a page that is served elsewhere.
import { api } from "./data.mjs";
import { steps } from "./draw.mjs";
import { open } from "./page.mjs";
import { serve } from "./serve.mjs";

const [, , given = "http://127.0.0.1:5001", shots = "shots"] = process.argv;
const server = given.replace(/\/$/, "");
const call = api(server);

async function studioOf() {
  if (process.env.STUDIO) return { studio: process.env.STUDIO.replace(/\/$/, "") };
  const answer = await fetch(`${server}/studio/`).catch(() => undefined);
  if (answer?.ok && (await answer.text()).includes('id="root"')) return { studio: `${server}/studio` };
  const proxy = await serve(server, 0);
  return { studio: `http://127.0.0.1:${proxy.address().port}/studio`, proxy };
}

const { studio, proxy } = await studioOf();
const eyes = await open(new URL(studio).origin, shots);
const world = { studio, server, call, made: [] };
let failure;
try {
  for (const step of steps) {
    process.stdout.write(`${step.name}\n`);
    await step(eyes, world);
  }
} catch (error) {
  failure = error;
  await eyes.page.screenshot({ path: `${shots}/failure.png` });
}
await eyes.browser.close();
proxy?.close();
proxy?.closeAllConnections();
if (world.made.length > 0) {
  const found = await call("POST", "/workflow-instances/query", {
    definitionIds: world.made,
    pageSize: 1000,
  });
  await call("POST", "/bulk-actions/delete/workflow-instances", { ids: found.items.map((one) => one.id) });
  const body = { definitionIds: world.made };
  await call("POST", "/bulk-actions/delete/workflow-definitions/by-definition-id", body);
}
for (const one of [...new Set(eyes.wrong)]) console.error(one);
if (failure) console.error(failure);
process.exitCode = failure || eyes.wrong.length > 0 ? 1 : 0;
