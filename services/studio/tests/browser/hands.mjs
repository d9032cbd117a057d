// What a person does with the designer, in small.
export const named = (page, role, name) => page.getByRole(role, { name, exact: true });
export const card = (page, name) => page.locator(".react-flow__node").filter({ hasText: name });
export const inspector = (page) => page.locator("#designer-inspector");
export const field = (page, name) => inspector(page).locator(`[data-input="${name}"]`);

export async function drag(page, from, to) {
  await page.mouse.move(from.x, from.y);
  await page.mouse.down();
  await page.mouse.move((from.x + to.x) / 2, (from.y + to.y) / 2, { steps: 5 });
  await page.mouse.move(to.x, to.y, { steps: 5 });
  await page.mouse.up();
}

export async function edge(locator, side) {
  const box = await locator.boundingBox();
  const x = side === "right" ? box.x + box.width : side === "left" ? box.x : box.x + box.width / 2;
  return { x, y: box.y + box.height / 2 };
}

/** What the server has, without what it says about saving. */
export async function stored(call, id) {
  const { links, ...rest } = await call(
    "GET",
    `/workflow-definitions/by-definition-id/${encodeURIComponent(id)}`,
  );
  return rest;
}

/** Clicks a card until it is selected: a click that comes while the canvas is drawn anew is lost. */
export async function select(page, name) {
  const chosen = page.locator(".react-flow__node.selected").filter({ hasText: name });
  for (let tries = 1; ; tries++) {
    await card(page, name).click();
    try {
      await chosen.waitFor({ timeout: 5_000 });
      return;
    } catch (error) {
      if (tries === 5) throw error;
    }
  }
}
