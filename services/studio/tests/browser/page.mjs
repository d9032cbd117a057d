// A browser with the eyes of the test: errors, foreign requests, what axe finds, screenshots.
import { mkdir, readFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { join } from "node:path";
import { chromium } from "playwright-core";

const AXE = await readFile(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");
const TAGS = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa"];

export async function open(origin, shots, options = {}) {
  await mkdir(shots, { recursive: true });
  const browser = await chromium.launch({
    executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium",
    args: ["--no-sandbox", "--disable-dev-shm-usage"],
  });
  const context = await browser.newContext({
    viewport: { width: 1440, height: 900 },
    locale: "en-GB",
    timezoneId: "Europe/Berlin",
    reducedMotion: "reduce",
    permissions: ["clipboard-read", "clipboard-write"],
    // axe is put into the page by the test itself, which the policy of the page would refuse.
    bypassCSP: false,
    ...options,
  });
  const page = await context.newPage();
  page.setDefaultTimeout(40_000);
  const wrong = [];
  const expected = [];
  page.on("console", (message) => {
    if (message.type() !== "error") return;
    if (expected.some((pattern) => pattern.test(message.text()))) return;
    wrong.push(`console: ${message.text()} ${message.location().url}`);
  });
  page.on("pageerror", (error) => wrong.push(`page: ${error.stack ?? error}`));
  page.on("request", (request) => {
    const to = new URL(request.url());
    if (!["data:", "blob:"].includes(to.protocol) && to.origin !== origin)
      wrong.push(`request to ${to.origin}`);
  });
  let number = 0;

  /** Looks at the page: a picture, and what axe finds. */
  async function look(name) {
    await page.waitForLoadState("load");
    await page.waitForTimeout(400);
    number += 1;
    // The caret stays: to hide it, a style would be put into the page.
    await page.screenshot({
      path: join(shots, `${String(number).padStart(2, "0")}-${name}.png`),
      caret: "initial",
    });
    for (const theme of ["light", "dark"]) await check(name, theme);
    await page.emulateMedia({ colorScheme: null });
    process.stdout.write(`  ${name}\n`);
  }

  /** What axe finds in a theme, where the page follows the system. */
  async function check(name, colorScheme) {
    await page.emulateMedia({ colorScheme });
    // The debugger's own evaluation is not under the policy of the page.
    const client = await context.newCDPSession(page);
    const run = `(() => { ${AXE}; return axe.run(document, { runOnly: ${JSON.stringify(TAGS)}, preload: false }) })()`;
    const { result, exceptionDetails } = await client.send("Runtime.evaluate", {
      expression: run,
      awaitPromise: true,
      returnByValue: true,
    });
    await client.detach();
    if (exceptionDetails)
      throw new Error(`axe: ${exceptionDetails.exception?.description ?? exceptionDetails.text}`);
    for (const { id, impact, nodes } of result.value.violations) {
      if (impact === "minor") continue;
      for (const node of nodes.slice(0, 5))
        wrong.push(`axe ${impact} ${id} on ${name} (${colorScheme}): ${node.html.slice(0, 160)}`);
    }
  }

  return { browser, context, page, look, wrong, expect: (pattern) => expected.push(pattern) };
}
