import { createElement } from "react";
import { renderToStaticMarkup } from "react-dom/server";
import { expect, it, vi } from "vitest";
import { Cron } from "./Cron";

const drawn = (zone: string) =>
  renderToStaticMarkup(createElement(Cron, { label: "Cron", value: "0 8 * * *", zone, onChange: vi.fn() }));
const times = (markup: string) => markup.match(/<li>/g)?.length ?? 0;

it("shows the next five times in the zone of the activity, or in one that is chosen", () => {
  expect(times(drawn("Europe/Berlin"))).toBe(5);
  expect(times(drawn(""))).toBe(5);
});

it("shows none in a zone that there is not, and says so", () => {
  expect(times(drawn("Mars/Olympus"))).toBe(0);
  expect(drawn("Mars/Olympus")).toContain("There is no time zone Mars/Olympus");
});
