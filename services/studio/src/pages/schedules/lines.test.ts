import { expect, it, vi } from "vitest";

vi.stubGlobal("sessionStorage", { getItem: () => null });
const { linesOf, listLines } = await import("./lines");

it("lists schedules with each tool, and with none that cannot", () => {
  const { staunch, nats, curl } = listLines({ definitionId: "order", isPaused: true });
  expect(staunch).toContain("schedule ls --definition order --paused");
  expect(nats).toBe(
    "nats req staunch.api.http.get.schedules '' -H 'Staunch-Query: definitionId=order&isPaused=true'",
  );
  expect(curl).toContain("/schedules?definitionId=order&isPaused=true");
  expect(listLines({ isPaused: false }).staunch).toBeNull();
});

it("pauses a schedule, or ends its pause, and starts it now", () => {
  const active = linesOf({ id: "order:hourly", isPaused: false });
  expect(active.staunch).toEqual([
    expect.stringContaining("schedule pause order:hourly"),
    expect.stringContaining("schedule trigger order:hourly"),
  ]);
  expect(active.nats).toEqual([
    "nats req staunch.api.http.post.schedules.order=3Ahourly.pause ''",
    "nats req staunch.api.http.post.schedules.order=3Ahourly.trigger ''",
  ]);
  const paused = linesOf({ id: "order:hourly", isPaused: true });
  expect(paused.staunch).toContainEqual(expect.stringContaining("schedule resume order:hourly"));
  expect(paused.nats).toContain(
    `nats req staunch.api.http.post.schedules.order=3Ahourly.resume '{"catchUp":false}'`,
  );
  expect(paused.curl).toContainEqual(expect.stringContaining("/resume"));
});
