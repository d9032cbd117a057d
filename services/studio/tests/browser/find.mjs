// How a person finds things on a page.
export const named = (page, role, name) => page.getByRole(role, { name, exact: true });
export const rail = (page, name) =>
  page.getByRole("navigation", { name: "Pages" }).first().getByRole("link", { name });

export async function notice(page, text) {
  await page.getByText(text).first().waitFor();
}
