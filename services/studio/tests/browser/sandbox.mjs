// node tests/browser/sandbox.mjs http://127.0.0.1:5001
// Pages that workflows write, on the origin of Studio: what they get of it, and what their forms reach.
import assert from "node:assert/strict";
import { chromium } from "playwright-core";
import { api } from "./data.mjs";

const [, , given = "http://127.0.0.1:5001"] = process.argv;
const server = given.replace(/\/$/, "");
const call = api(server);

const page = (path, methods, content, more = {}) => ({
  definitionId: `sandbox-${path}`,
  root: {
    type: "Elsa.Sequence",
    activities: [
      { type: "Elsa.HttpEndpoint", path, supportedMethods: methods, canStartWorkflow: true },
      { type: "Elsa.WriteHttpResponse", contentType: "text/html", content, ...more },
    ],
  },
});

const steal = `<!doctype html><pre id="o">nothing</pre>
<form method="post" action="/workflows/sandbox-next"><button>on</button></form>
<a href="/workflows/sandbox-evil">again</a>
<script>
  const tell = (text) => { document.getElementById("o").textContent += " | " + text; };
  try { tell("token " + sessionStorage.getItem("token")); } catch (e) { tell("refused " + e.name); }
  tell("origin " + self.origin);
  (async () => {
    try { await navigator.serviceWorker.register("/workflows/sandbox-worker", { scope: "/" }); tell("worker"); }
    catch (e) { tell("no worker"); }
    try { await fetch("/elsa/api/workflow-definitions").then((r) => r.json()); tell("api read"); }
    catch (e) { tell("api closed"); }
    // As a new tab of Studio asks the others for their session.
    const answer = await new Promise((resolve) => {
      const tabs = new BroadcastChannel("staunch.session ");
      tabs.onmessage = () => resolve("session");
      tabs.postMessage({ is: "ask", from: "evil" });
      setTimeout(() => resolve("no session"), 1000);
    });
    tell(answer);
    tell("end");
  })();
</script>`;

for (const one of [
  page("sandbox-evil", ["GET"], steal),
  page("sandbox-next", ["POST"], "<p>next</p>"),
  page("sandbox-worker", ["GET"], "self.addEventListener('fetch', () => {})", {
    contentType: "text/javascript",
    responseHeaders: { "Service-Worker-Allowed": "/" },
  }),
])
  await call("POST", "/workflow-definitions", one);

const browser = await chromium.launch({
  executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium",
  args: ["--no-sandbox", "--disable-dev-shm-usage"],
});
try {
  const context = await browser.newContext();
  const open = await context.newPage();
  await open.goto(`${server}/studio/`);
  await open.evaluate(() => {
    const tabs = new BroadcastChannel("staunch.session ");
    tabs.onmessage = ({ data }) =>
      tabs.postMessage({ is: "answer", to: data.from, session: { kind: "key", key: "of-the-user" } });
  });
  const tab = await context.newPage();
  tab.setDefaultTimeout(15_000);
  await tab.goto(`${server}/studio/`);
  await tab.evaluate(() => sessionStorage.setItem("token", "of-the-user"));

  await tab.goto(`${server}/workflows/sandbox-evil`);
  const told = tab.locator("#o", { hasText: "end" });
  await told.waitFor();
  const text = await told.textContent();
  process.stdout.write(`${text}\n`);
  assert.match(text, /refused SecurityError/);
  assert.match(text, /origin null/);
  assert.match(text, /no worker/);
  assert.match(text, /api closed/);
  assert.match(text, /\| no session/);

  await tab.getByText("again").click();
  await told.waitFor();
  await tab.getByText("on", { exact: true }).click();
  await tab.getByText("next").waitFor();

  // Studio itself has what it kept, and the page has not changed it.
  await tab.goto(`${server}/studio/`);
  assert.equal(await tab.evaluate(() => sessionStorage.getItem("token")), "of-the-user");
  assert.equal(await tab.evaluate(async () => (await navigator.serviceWorker.getRegistrations()).length), 0);
} finally {
  await browser.close();
}
