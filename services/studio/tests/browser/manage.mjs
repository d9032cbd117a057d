// The way through the pages of those who run a cluster.
import assert from "node:assert/strict";
import { named, notice, rail } from "./find.mjs";
import { ask, publish } from "./nats.mjs";

export async function rest({ page, look }) {
  for (const name of ["Messages", "Cluster", "Access", "Secrets"]) {
    await rail(page, name).click();
    await named(page, "heading", name).first().waitFor();
    await page.waitForTimeout(300);
    await look(name.toLowerCase());
  }
}

/** Commands that nobody can read: looked at, and removed one by one and together. */
export async function letters({ page, look }, { studio }) {
  const nats = process.env.STAUNCH_NATS_URL;
  if (!nats) return process.stdout.write("letters: skipped, STAUNCH_NATS_URL is not set\n");
  const subject = "staunch.cmd.start.browser-garbage";
  for (const text of ["not a command", '{"half":', "[]"]) await publish(nats.split(",")[0], subject, text);
  await page.goto(`${studio}/`);
  await rail(page, "Messages").click();
  const rows = page.getByRole("row").filter({ hasText: subject });
  await page.waitForFunction((wanted) => document.body.textContent.split(wanted).length > 3, subject, {
    timeout: 30_000,
  });
  await look("messages-dead");
  await rows.first().getByRole("button").first().click();
  await page.getByRole("complementary").getByText(subject).first().waitFor();
  await page.getByText("Body", { exact: true }).waitFor();
  await look("messages-letter");
  await named(page, "button", "Edit and replay").click();
  await page.getByLabel("The body to publish").fill("{");
  await page.getByText(/^This is not JSON/).waitFor();
  assert.equal(await named(page, "button", "Replay with this body").isDisabled(), true);
  await look("messages-edit");
  await named(page, "button", "Back").click();
  await named(page, "button", "Delete").click();
  await named(page, "button", "Delete this message").click();
  await page.getByRole("dialog").waitFor({ state: "detached" });
  await page.waitForFunction((wanted) => document.body.textContent.split(wanted).length === 3, subject);
  for (const row of await rows.all()) await row.getByRole("checkbox").check();
  await named(page, "button", "Delete").click();
  await page.getByLabel("Type 2 to confirm").fill("2");
  await named(page, "button", "Delete 2 messages").click();
  await page.getByRole("dialog").waitFor({ state: "detached" });
  await page.waitForFunction((wanted) => !document.body.textContent.includes(wanted), subject);
}

/** A source whose stream is missing says so; once the stream is there, its consumer and its lag are shown. */
export async function listeners({ page, look }, { studio, call, made }) {
  const nats = process.env.STAUNCH_NATS_URL?.split(",")[0];
  if (!nats) return process.stdout.write("listeners: skipped, STAUNCH_NATS_URL is not set\n");
  const stream = { name: "BROWSER_ORDERS", subjects: ["browser-orders.>"], storage: "memory" };
  const source = {
    id: "m",
    type: "Staunch.MessageReceived",
    canStartWorkflow: true,
    subject: "browser-orders.*",
    stream: stream.name,
  };
  made.push("browser-listens");
  await call("POST", "/workflow-definitions/import?publish=true", {
    definitionId: "browser-listens",
    name: "Listens",
    root: { id: "Sequence1", type: "Elsa.Sequence", activities: [source] },
  });
  await page.goto(`${studio}/`);
  await rail(page, "Messages").click();
  await named(page, "tab", "Listeners").click();
  await page.waitForURL(/tab=listeners/);
  const row = page.getByRole("row").filter({ hasText: "browser-orders.*" });
  await row.getByText("No stream", { exact: true }).waitFor();
  await look("listeners");
  await ask(nats, `$JS.API.STREAM.CREATE.${stream.name}`, JSON.stringify(stream));
  await row.getByText("Listening", { exact: true }).waitFor();
  await row.getByRole("button").click();
  const panel = page.getByRole("complementary");
  await panel.getByText(/^staunch-[0-9A-F]{32}$/).waitFor();
  await panel.getByText("starts with a message").waitFor();
  await look("listener");
  await panel.getByRole("link", { name: "Listens" }).click();
  await page.waitForURL(/definitions\/browser-listens/);
  await ask(nats, `$JS.API.STREAM.DELETE.${stream.name}`, "");
}

/** Pauses the cluster and lets it go on. */
export async function pause({ page, look }) {
  await rail(page, "Cluster").click();
  await named(page, "button", "Pause all nodes").click();
  await page.getByLabel("Reason").fill("The browser test");
  await page.getByRole("dialog").getByRole("button", { name: "Pause all nodes" }).click();
  await page.getByText(/Paused: all nodes/).waitFor();
  await page.getByText("Takes no commands").waitFor();
  await look("cluster-paused");
  await page.getByRole("button", { name: "Go on: all nodes" }).click();
  await page.getByText("Takes commands").waitFor();

  // A node that is paused by itself goes on by itself.
  await page
    .getByRole("button", { name: /^Actions of / })
    .first()
    .click();
  await named(page, "menuitem", "Pause").click();
  await page
    .getByRole("dialog")
    .getByRole("button", { name: /^Pause / })
    .click();
  await page.getByText(/Paused: (?!all nodes)/).waitFor();
  await page.getByRole("button", { name: /^Go on: / }).click();
  await page.getByText(/^Goes on: \S+\.$/).waitFor();
  await page.getByText(/Paused: /).waitFor({ state: "detached" });
}

export async function access({ page, look }, { studio }) {
  await page.goto(`${studio}/`);
  await rail(page, "Access").click();
  await named(page, "tab", "Roles").click();
  await named(page, "button", "Make a role").click();
  const dialog = page.getByRole("dialog");
  await dialog.getByLabel("Name").fill("browser-watchers");
  await named(dialog, "button", "Make a role").click();
  await dialog.getByText("Without a permission, who has this role may do nothing.").waitFor();
  await dialog.getByLabel("Find a permission").fill("workflow-inst");
  await named(dialog, "checkbox", "read:workflow-instances").check();
  await look("access-role");
  await named(dialog, "button", "Make a role").click();
  await page.getByRole("cell", { name: "browser-watchers" }).first().waitFor();
  await named(page, "tab", "API keys").click();
  await named(page, "button", "Make a key").click();
  await dialog.getByLabel("Name").fill("browser-key");
  const make = named(dialog, "button", "Make a key");
  assert.ok(await make.isDisabled(), "a key without a permission cannot be made");
  await named(dialog, "checkbox", "read:workflow-instances").check();
  await dialog.getByLabel("Days that it is valid").fill("3o");
  await dialog.getByText("Write a whole number of days from 1 to 36600, or nothing.").waitFor();
  assert.ok(await make.isDisabled(), "a key whose lifetime is mistyped cannot be made");
  await dialog.getByLabel("Days that it is valid").fill("30");
  await make.click();
  await page.getByText("This is shown once.").waitFor();
  await look("access-key");
  await page.getByRole("dialog").getByRole("button", { name: "Close" }).click();
  await page
    .getByRole("row", { name: /browser-key/ })
    .getByRole("button", { name: "Delete" })
    .click();
  await named(page, "button", "Delete browser-key").click();
  await page.getByRole("dialog").waitFor({ state: "detached" });
  await named(page, "tab", "Roles").click();
  await named(page, "button", "Actions of browser-watchers").click();
  await named(page, "menuitem", "Delete").click();
  await named(page, "button", "Delete browser-watchers").click();
  await page.getByRole("dialog").waitFor({ state: "detached" });
  await named(page, "tab", "Audit").click();
  await page.getByRole("cell", { name: "definition.publish" }).first().waitFor();
  await look("access-audit");
  await page.getByLabel("Since (2h, or a time)").fill("yesterday");
  await page.getByLabel("Outcome").selectOption("refused");
  await page.getByLabel("Who", { exact: true }).fill("nobody-at-all");
  await named(page, "button", "Filter").click();
  await page
    .getByText("Ignored, because the list has no such filter, or no such value of it: from=yesterday")
    .waitFor();
  await page.getByText("Nothing matches these filters.").waitFor();
}

/** Makes a secret, tests it, gives it another value, and removes it. */
export async function secrets({ page, look }) {
  await rail(page, "Secrets").click();
  await named(page, "button", "Make a secret").click();
  await page.getByLabel("Name").fill("browser:token");
  await page.getByLabel("Value", { exact: true }).fill("first");
  await page.getByRole("dialog").getByRole("button", { name: "Make a secret" }).click();
  await named(page, "cell", "browser:token").waitFor();
  const choose = async (item) => {
    await named(page, "button", "Actions of browser:token").click();
    await named(page, "menuitem", item).click();
  };
  await choose("Test");
  await page.getByText("browser:token can be decrypted and is active.").waitFor();
  await choose("Change the description");
  await page.getByLabel("Description").fill("What the browser test says");
  await page.getByRole("dialog").getByRole("button", { name: "Save" }).click();
  await named(page, "cell", "What the browser test says").waitFor();
  await choose("Rotate");
  await page.getByLabel("Value", { exact: true }).fill("second");
  await page.getByRole("dialog").getByRole("button", { name: "Rotate" }).click();
  await page.getByRole("dialog").waitFor({ state: "detached" });
  await look("secret");
  await choose("Delete");
  await named(page, "button", "Delete browser:token").focus();
  await page.keyboard.press("Enter");
  await page.getByRole("dialog").waitFor({ state: "detached" });
  await named(page, "cell", "browser:token").waitFor({ state: "detached" });
  // The button that opened the dialog is gone: what is beside it has the focus.
  await page.waitForFunction(
    () => !["BODY", "MAIN"].includes(document.activeElement?.tagName ?? "BODY"),
    undefined,
    { timeout: 5000 },
  );
}

/** Makes a label, gives it to a definition, finds that by it, changes it and removes it. */
export async function labels({ page, look }, { studio }) {
  // Where there is no label, the dialog that chooses some makes one.
  await page.goto(`${studio}/definitions/browser-approval`);
  await named(page, "button", "Choose labels").click();
  const choose = page.getByRole("dialog", { name: "Labels" });
  await choose.getByText("There is no label.").waitFor();
  await look("definition-no-label");
  await named(choose, "button", "Make a label").click();
  const first = page.getByRole("dialog", { name: "Make a label" });
  await first.getByLabel("Name").fill("Browser first");
  await named(first, "button", "Make a label").click();
  await first.waitFor({ state: "detached" });
  assert.equal(await choose.getByLabel("Browser first").isChecked(), true);
  await named(choose, "button", "Save").click();
  await page.getByRole("tabpanel").getByText("Browser first").waitFor();

  await page.goto(`${studio}/definitions`);
  await named(page, "button", "Labels").click();
  await named(page, "button", "Actions of Browser first").click();
  await named(page, "menuitem", "Delete").click();
  await named(page, "button", "Delete Browser first").click();
  await page.getByText("There is no label.").waitFor();
  await page.goto(`${studio}/definitions`);
  await named(page, "button", "Labels").click();
  await named(page, "button", "Make a label").click();
  const dialog = page.getByRole("dialog");
  await dialog.getByLabel("Name").fill("Browser");
  await dialog.getByLabel("Colour").fill("#1a7f37");
  await dialog.getByRole("button", { name: "Make a label" }).click();
  await dialog.waitFor({ state: "detached" });
  await named(page, "button", "Actions of Browser").click();
  await named(page, "menuitem", "Change").click();
  await dialog.getByLabel("Name").fill("Browser walk");
  await dialog.getByRole("button", { name: "Save" }).click();
  await dialog.waitFor({ state: "detached" });
  await look("labels");
  await page.keyboard.press("Escape");

  await page.goto(`${studio}/definitions/browser-approval`);
  await named(page, "button", "Choose labels").click();
  await dialog.getByLabel("Browser walk").check();
  await dialog.getByRole("button", { name: "Save" }).click();
  await dialog.waitFor({ state: "detached" });
  await page.getByRole("tabpanel").getByText("Browser walk").waitFor();
  await look("definition-labels");

  await page.goto(`${studio}/definitions`);
  await named(page, "button", "Find what has the label Browser walk").click();
  await page.waitForURL(/label=/);
  await page.waitForFunction(() => document.querySelectorAll("tbody tr").length === 1);
  await look("definitions-by-label");
  await named(page, "button", "Remove the filter Browser walk").click();
  await page.waitForURL((url) => !url.search.includes("label"));
  await named(page, "button", "Labels").click();
  await named(page, "button", "Actions of Browser walk").click();
  await named(page, "menuitem", "Delete").click();
  await named(page, "button", "Delete Browser walk").click();
  await page.getByText("There is no label.").waitFor();
  await page.keyboard.press("Escape");
}

/** The buttons of a map are large enough for a finger, and nothing lies over them. */
async function reachable(page) {
  const buttons = page.locator(".react-flow__controls-button");
  await buttons.first().waitFor();
  for (const button of await buttons.all()) {
    const { width, height } = await button.boundingBox();
    assert.ok(Math.min(width, height) >= 24, `a button of the map is ${width} by ${height}`);
    await button.click({ trial: true, timeout: 10_000 });
  }
}

export async function phone({ page, look }, { studio, failed, waiting }) {
  await page.setViewportSize({ width: 390, height: 800 });
  await page.goto(`${studio}/`);
  await named(page, "heading", "Home").waitFor();
  await look("phone-home");
  const bar = page.getByRole("navigation", { name: "Pages" }).first();
  await named(bar, "button", "More").click();
  await look("phone-more");
  await named(bar, "menuitem", "Tasks").click();
  await page.waitForURL(/tasks/);
  await page.goto(`${studio}/instances/${failed}?tab=incidents`);
  await page.getByText("missingThing is not defined").first().waitFor();
  const retry = page.getByRole("tabpanel").getByRole("button", { name: "Retry" });
  assert.ok((await retry.boundingBox()).y < 700, "what can be done is out of sight");
  await look("phone-instance");
  const travel = page.getByRole("region", { name: "Travel in time" });
  const [now, lines] = await Promise.all([
    named(travel, "button", "Now").boundingBox(),
    travel.getByText(/ lines?$/).boundingBox(),
  ]);
  const apart = Math.abs(now.y + now.height / 2 - lines.y - lines.height / 2);
  assert.ok(apart < 8, "the button Now stands on a line of its own");
  for (const path of [`instances/${failed}?tab=timeline`, "incidents", "tasks", "schedules", "cluster"]) {
    await page.goto(`${studio}/${path}`);
    await page.getByRole("heading", { level: 1 }).waitFor();
    await page.getByRole("status", { name: "Loading" }).first().waitFor({ state: "detached" });
    await look(`phone-${path.split("/")[0]}`);
    const [wide, seen] = await page.evaluate(() => [document.documentElement.scrollWidth, window.innerWidth]);
    assert.ok(wide <= seen, `${path} is ${wide} wide`);
  }
  for (const path of [`instances/${failed}`, `instances/${failed}?tree=yes`, "definitions/new"]) {
    await page.goto(`${studio}/${path}`);
    await reachable(page);
  }
  await page.setViewportSize({ width: 360, height: 560 });
  for (const instance of [failed, waiting]) {
    await page.goto(`${studio}/instances/${instance}`);
    await page.getByText("Why is it here?").waitFor();
    await named(page, "button", "Zoom In").waitFor();
    const covered = await page.evaluate(() =>
      [...document.querySelectorAll(".react-flow__controls-button")]
        .filter((button) => {
          const { left, width, bottom } = button.getBoundingClientRect();
          return document.elementFromPoint(left + width / 2, bottom - 2)?.closest("button") !== button;
        })
        .map((button) => button.title),
    );
    assert.deepEqual(covered, [], "something lies over the buttons of the map");
  }
  await page.setViewportSize({ width: 1440, height: 900 });
}

/** A large count of incidents stays within its place in the rail, and the page is no wider for it. */
export async function badge({ page, look }, { studio }) {
  const counts = "**/workflow-instances/query";
  await page.route(counts, async (route) => {
    if (!route.request().postDataJSON().hasIncidents) return route.fallback();
    await route.fulfill({ json: { items: [], totalCount: 250 } });
  });
  for (const width of [375, 1280]) {
    await page.setViewportSize({ width, height: 800 });
    await page.goto(`${studio}/`);
    const count = page.getByRole("navigation", { name: "Pages" }).first().getByText("99+");
    await count.waitFor();
    const [inner, outer] = await count.evaluate((part) =>
      [part, part.closest("a")].map((one) => {
        const { left, right } = one.getBoundingClientRect();
        return { left, right };
      }),
    );
    assert.ok(
      inner.left >= outer.left && inner.right <= outer.right,
      `the count hangs out of the rail at ${width}: ${JSON.stringify([inner, outer])}`,
    );
    await look(`badge-${width}`);
  }
  await page.unroute(counts);
  await page.setViewportSize({ width: 1440, height: 900 });
}

/** With text of twice the size the bar above each page is not wider than the window, and cuts no word. */
export async function large({ page, look }, { studio, failed }) {
  await page.setViewportSize({ width: 390, height: 800 });
  await page.goto(`${studio}/instances/${failed}?tab=incidents`);
  await page.getByText("missingThing is not defined").first().waitFor();
  const cut = await page.evaluate(() => {
    document.documentElement.style.fontSize = "200%";
    const bar = document.querySelector("header");
    const parts = [bar, ...bar.querySelectorAll("button, nav > *")];
    return parts
      .filter((part) => part.scrollWidth > part.clientWidth + 1 || part.scrollHeight > part.clientHeight + 1)
      .map((part) => part.outerHTML.slice(0, 200));
  });
  await look("large-text");
  await page.evaluate(() => document.documentElement.style.removeProperty("font-size"));
  await page.setViewportSize({ width: 1440, height: 900 });
  assert.deepEqual(cut, []);
}

/** What cuts a text, or lies over the middle of what can be used. */
const cutIn = (page, places) =>
  page.evaluate((selector) => {
    const isCut = (part) => {
      const { left, width, top, height } = part.getBoundingClientRect();
      const above = document.elementFromPoint(left + width / 2, top + height / 2);
      const isCovered = above !== null && !part.contains(above) && !above.contains(part);
      return isCovered || part.scrollWidth > part.clientWidth + 1;
    };
    return [...document.querySelectorAll(selector)].filter(isCut).map((part) => part.outerHTML.slice(0, 200));
  }, places);

/** On a desk, too, text of twice the size is not cut: the layout follows the text, not the window alone. */
export async function larger({ page, look }, { studio, failed, call }) {
  await page.setViewportSize({ width: 1280, height: 800 });
  const grow = () =>
    page.evaluate(() => {
      document.documentElement.style.fontSize = "200%";
    });
  await page.goto(`${studio}/`);
  await page.getByRole("link", { name: /^Started \d/ }).waitFor();
  await grow();
  await call("POST", "/workflow-instances/start", { definitionId: "browser-broken", input: {} });
  const happened = page.getByRole("region", { name: "Just happened" });
  await named(happened, "link", "Card payment").first().waitFor();
  await look("larger-home");
  const cut = await cutIn(
    page,
    'section[aria-label="Figures of the last hour"] a, section[aria-label="Figures of the last hour"] a > span',
  );
  const feed = await cutIn(page, 'section[aria-label="Just happened"]');
  await page.goto(`${studio}/instances/${failed}`);
  await named(page, "heading", "Card payment v1").waitFor();
  await grow();
  await page.getByLabel("As of the line").waitFor();
  await look("larger-instance");
  const hidden = await cutIn(page, 'h1 span, input[type="range"], section[aria-label="Travel in time"] > *');
  await page.setViewportSize({ width: 1440, height: 900 });
  assert.deepEqual([...cut, ...feed, ...hidden], []);
}

export async function german({ page, look }, { studio }) {
  await page.goto(`${studio}/instances`);
  await named(page, "button", "You").click();
  await named(page, "menuitem", "Deutsch").click();
  await named(page, "heading", "Instanzen").waitFor();
  await look("german");
  await named(page, "button", "Sie").click();
  await named(page, "menuitem", "English").click();
  await named(page, "heading", "Instances").waitFor();
}

/** A user gives itself another password, and stays signed in. */
async function renewed(page, look, password) {
  await named(page, "button", "You").click();
  await named(page, "menuitem", "Change password").click();
  const dialog = named(page, "dialog", "Change password");
  const change = async (current, next) => {
    await dialog.getByLabel("Current password").fill(current);
    await dialog.getByLabel("New password", { exact: true }).fill(next);
    await dialog.getByLabel("New password, repeated").fill("another password for a look");
    await named(dialog, "button", "Change password").click();
  };
  await change(password, "mistyped");
  await dialog.getByText("This is not the new password.").waitFor();
  await change("not this one", "another password for a look");
  await dialog.getByText("This is not your current password.").waitFor();
  await look("password");
  await change(password, "another password for a look");
  await notice(page, "The password is changed, and your other sessions have ended.");
  await dialog.waitFor({ state: "detached" });
}

/** Somebody who may look at instances alone is offered nothing else; an API key signs in as well. */
export async function watcher({ page, look, expect }, { studio, user, call, waiting }) {
  if (!user) return;
  const role = { id: "browser-watcher", name: "Browser watcher", permissions: ["read:workflow-instances"] };
  await call("POST", "/identity/roles", role);
  const password = "a-password-for-a-look";
  const made = await call("POST", "/identity/users", { name: "browser-watcher", password, roles: [role.id] });
  const { id, key } = await call("POST", "/api-keys", { name: "browser", permissions: ["*"] });
  try {
    await named(page, "button", "You").click();
    await page.getByRole("menuitem", { name: /^Sign out/ }).click();
    await page.getByLabel("User name").fill("browser-watcher");
    await page.getByLabel("Password").fill(password);
    await named(page, "button", "Sign in").click();
    await rail(page, "Instances").waitFor();
    assert.equal(await rail(page, "Access").count(), 0);
    expect(/status of 403/);
    await renewed(page, look, password);
    await page.goto(`${studio}/instances/${waiting}`);
    await page.getByText("Why is it here?").waitFor();
    assert.equal(await named(page, "button", "Cancel").count(), 0);
    await look("watcher");
    await page.goto(`${studio}/access`);
    await page.getByText(/^This page needs one of the permissions read:user,/).waitFor();
    await page.goto(`${studio}/definitions`);
    await page.getByText("This page needs the permission read:workflow-definitions.").waitFor();
    await named(page, "button", "You").click();
    await page.getByRole("menuitem", { name: /^Sign out/ }).click();
    await named(page, "tab", "API key").click();
    await page.getByLabel("API key", { exact: true }).last().fill(key);
    await named(page, "button", "Sign in").click();
    await rail(page, "Access").waitFor();
  } finally {
    await call("DELETE", `/identity/users/${made.id}`);
    await call("DELETE", `/identity/roles/${role.id}`);
    await call("DELETE", `/api-keys/${id}`);
  }
}
