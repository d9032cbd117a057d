import { expect, it } from "vitest";
import { quoted } from "./shell";

it("quotes what a shell would take apart", () => {
  expect(quoted("Acme.ChargeCard@2")).toBe("Acme.ChargeCard@2");
  expect(quoted("")).toBe("''");
  expect(quoted("Ship it's")).toBe(`'Ship it'\\''s'`);
});
