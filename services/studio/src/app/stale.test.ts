import { describe, expect, it } from "vitest";
import { Problem, unreachable } from "../api/problem";
import { isGone, notBefore, PATIENCE_MS, staleSince } from "./stale";

const gone = unreachable("GET /nodes");
const answered = (at: number, error: unknown = null) => ({ at, error });

describe("data of a server that does not answer", () => {
  it("is of the time of the oldest answer that could not be renewed", () => {
    expect(staleSince([answered(100), answered(200, gone), answered(300, gone)], 1000)).toBe(200);
    expect(staleSince([answered(100), answered(200)], 1000)).toBeUndefined();
  });

  it("is not what never came", () => expect(staleSince([answered(0, gone)], 1000)).toBeUndefined());

  it("is of the latest answer where the stream broke, and nothing was answered since", () => {
    const all = [answered(100), answered(400)];
    expect(staleSince(all, 500 + PATIENCE_MS, 500)).toBe(400);
    expect(staleSince(all, 499 + PATIENCE_MS, 500)).toBeUndefined();
    expect(staleSince([...all, answered(600)], 500 + PATIENCE_MS, 500)).toBeUndefined();
  });

  it("is of a time that does not go back while it lasts, and begins anew after that", () => {
    const broken = staleSince([answered(400), answered(200)], 500 + PATIENCE_MS, 500);
    const found = staleSince([answered(400), answered(200, gone)], 500 + PATIENCE_MS, 500);
    expect([broken, found]).toEqual([400, 200]);
    expect(notBefore(notBefore(undefined, broken), found)).toBe(400);
    expect(notBefore(400, 600)).toBe(600);
    expect(notBefore(notBefore(400, undefined), 200)).toBe(200);
  });

  it("is not that of a server that answers with an error", () => {
    expect(isGone(new Problem(503, "", "", "GET /nodes"))).toBe(false);
    expect(isGone(new Problem(502, "", "", "GET /nodes"))).toBe(true);
    expect(isGone(new TypeError("a fault of this page"))).toBe(false);
    expect(isGone(null)).toBe(false);
  });
});
