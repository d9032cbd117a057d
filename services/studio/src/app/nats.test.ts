import { describe, expect, it } from "vitest";
import { Problem, unreachable } from "../api/problem";
import { heldSince, reachOf } from "./nats";

const nats = (status: string) => [
  { name: "database", status: "Healthy" },
  { name: "nats", status },
];

describe("the checks of a node", () => {
  it("say whether it reaches NATS", () => {
    expect(reachOf(nats("Healthy"))).toBe("reached");
    expect(reachOf(nats("Unhealthy"))).toBe("lost");
  });

  it("say nothing of NATS where they are not there, as when the node is stopping", () => {
    for (const checks of [undefined, [], [{ name: "database", status: "Unhealthy" }], "nats"])
      expect(reachOf(checks)).toBe("unknown");
  });
});

describe("what NATS holds", () => {
  const down = new Problem(503, "", "", "GET /tasks/pools");

  it("is of the time of the oldest answer that the server could not renew", () => {
    const answers = [
      { at: 100, error: null },
      { at: 300, error: down },
      { at: 200, error: down },
    ];
    expect(heldSince(answers)).toBe(200);
  });

  it("has no time where nothing of it came", () => {
    expect(heldSince([{ at: 0, error: down }])).toBeUndefined();
    expect(heldSince([{ at: 100, error: unreachable("GET /tasks/pools") }])).toBeUndefined();
  });
});
