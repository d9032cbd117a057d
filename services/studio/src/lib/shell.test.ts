import { expect, it } from "vitest";
import { quoted, staunch } from "./shell";

it("quotes what a shell would take apart", () => {
  expect(quoted("Acme.ChargeCard@2")).toBe("Acme.ChargeCard@2");
  expect(quoted("")).toBe("''");
  expect(quoted("Ship it's")).toBe(`'Ship it'\\''s'`);
});

it("names the server where it is not the one that is asked by itself", () => {
  expect(staunch("workflow ls", "http://127.0.0.1:5001")).toBe("staunch workflow ls");
  expect(staunch("workflow ls", "https://acme.test/flows")).toBe(
    "staunch workflow ls --server https://acme.test/flows",
  );
});
