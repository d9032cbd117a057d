// The way of two people who edit the same workflow at once.
import assert from "node:assert/strict";
import { card, inspector, named, stored } from "./hands.mjs";
import { open } from "./page.mjs";
import { enter, signedIn, studioOf } from "./world.mjs";

const ID = "browser-shared";
const value = (text) => ({ typeName: "String", expression: { type: "Literal", value: text } });
const at = (x, y) => ({ designer: { position: { x, y } } });
const activity = (id, name, x) => ({
  id,
  name,
  type: "Elsa.WriteLine",
  text: value(name),
  metadata: at(x, 0),
});

const shared = {
  definitionId: ID,
  name: "Shared",
  root: {
    type: "Elsa.Flowchart",
    id: "flow",
    activities: [activity("take", "Take", 0), activity("pack", "Pack", 300), activity("send", "Send", 600)],
    connections: [
      { source: { activity: "take", port: "Done" }, target: { activity: "pack", port: "In" } },
      { source: { activity: "pack", port: "Done" }, target: { activity: "send", port: "In" } },
    ],
  },
};

/** The second browser, at the other node; a second person where the server asks who one is. */
async function arrive(world) {
  const [other = world.server] = world.others;
  const server = other.replace(/\/$/, "");
  const { studio, proxy } = await studioOf(server);
  let user = world.user;
  if (user) {
    user = { username: "browser-second", password: "a-second-pair-of-eyes" };
    const made = await world.call("POST", "/identity/users", {
      name: user.username,
      password: user.password,
      roles: ["admin"],
    });
    world.second = made.id;
  }
  const eyes = await open(new URL(studio).origin, `${world.shots}/second`);
  eyes.expect(/status of 401/);
  await eyes.page.goto(`${studio}/`);
  await enter(eyes.page, user);
  return { eyes, studio, proxy, server, user };
}

const titled = (page, name, title) =>
  card(page, name)
    .click()
    .then(() => inspector(page).getByLabel("Title").fill(title));

async function save(page) {
  await page.locator("#designer-canvas").focus();
  await page.keyboard.press("Control+s");
}

const openAt = async ({ page }, studio) => {
  await page.goto(`${studio}/definitions/${ID}/edit`);
  await card(page, "Send").waitFor();
};

const textOf = (doc, id) => doc.root.activities.find((one) => one.id === id);

/** Different places: both changes are in what is saved last. */
async function apart(first, world) {
  const { eyes: second, studio } = world.pair;
  await openAt(first, world.studio);
  await openAt(second, studio);
  await titled(first.page, "Take", "Taken by the first");
  await titled(second.page, "Send", "Sent by the second");
  await save(first.page);
  await first.page.getByText("Saved as version").first().waitFor();
  second.expect(/status of 412/);
  await save(second.page);
  const dialog = second.page.getByRole("dialog");
  await dialog.getByText("Somebody else has saved this definition").waitFor();
  const theirs = dialog.locator("section").filter({ hasText: "What they changed" });
  await theirs.getByText("Taken by the first").waitFor();
  await dialog
    .locator("section")
    .filter({ hasText: "What you changed" })
    .getByText("Sent by the second")
    .waitFor();
  if (world.user) await dialog.getByText(`${world.user.username} saved it at`).waitFor();
  await second.look("told");
  await named(second.page, "button", "Join both").click();
  await card(second.page, "Taken by the first").waitFor();
  await card(second.page, "Sent by the second").waitFor();
  await save(second.page);
  await second.page.getByText("Saved as version").first().waitFor();
  await second.page.getByText("Unsaved changes").waitFor({ state: "detached" });
  for (const call of [world.call, world.pair.call]) {
    const doc = await stored(call, ID);
    assert.equal(textOf(doc, "take").metadata.displayText, "Taken by the first");
    assert.equal(textOf(doc, "send").metadata.displayText, "Sent by the second");
  }
}

/** The same place: both values are shown, and the one that is chosen is kept. */
async function together(first, world) {
  const { eyes: second, studio } = world.pair;
  await first.page.reload();
  await card(first.page, "Sent by the second").waitFor();
  await openAt(second, studio).catch(() => undefined);
  await card(second.page, "Sent by the second").waitFor();
  await titled(second.page, "Pack", "Packed in paper");
  await titled(first.page, "Pack", "Packed in wood");
  await save(second.page);
  await second.page.getByText("Unsaved changes").waitFor({ state: "detached" });
  first.expect(/status of 412/);
  await save(first.page);
  const dialog = first.page.getByRole("dialog");
  await dialog.getByText("Both changed these in different ways").waitFor();
  const clash = dialog.getByRole("group").filter({ hasText: "pack" });
  await clash.getByRole("radio", { name: "Yours Packed in wood" }).waitFor();
  await clash.getByRole("radio", { name: "Theirs Packed in paper" }).check();
  await first.look("clash");
  await clash.getByRole("radio", { name: "Yours Packed in wood" }).check();
  await named(first.page, "button", "Join both").click();
  await card(first.page, "Packed in wood").waitFor();
  assert.equal(textOf(await stored(world.call, ID), "pack").metadata.displayText, "Packed in paper");
  await save(first.page);
  await first.page.getByText("Unsaved changes").waitFor({ state: "detached" });
  const doc = await stored(world.call, ID);
  assert.equal(textOf(doc, "pack").metadata.displayText, "Packed in wood");
  assert.equal(textOf(doc, "send").metadata.displayText, "Sent by the second");
}

/** Both walk; whatever happens, the second browser is closed and what it found is said. */
async function both(first, world) {
  world.made.push(ID);
  await world.call("POST", "/workflow-definitions", { model: shared, publish: false });
  world.pair = await arrive(world);
  const { eyes, proxy, server, user } = world.pair;
  try {
    world.pair.call = await signedIn(server, user);
    await apart(first, world);
    await together(first, world);
  } catch (error) {
    await eyes.page.screenshot({ path: `${world.shots}/second/failure.png` });
    throw error;
  } finally {
    first.wrong.push(...eyes.wrong);
    await eyes.browser.close();
    proxy?.close();
    proxy?.closeAllConnections();
    if (world.second) await world.call("DELETE", `/identity/users/${world.second}`);
  }
}

export const steps = [both];
