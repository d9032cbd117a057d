import { QueryClient } from "@tanstack/react-query";
import { afterEach, describe, expect, it, vi } from "vitest";
import { Problem, unreachable } from "../api/problem";
import { session } from "../api/session";
import { heldSince, reachesOf, reachesQuery } from "./nats";

const checks = (nats: string, database = "Healthy") => [
  { name: "database", status: database },
  { name: "nats", status: nats },
];

describe("the checks of a node", () => {
  it("say whether it reaches NATS", () => {
    expect(reachesOf(checks("Healthy")).nats).toBe("reached");
    expect(reachesOf(checks("Unhealthy"))).toEqual({ nats: "lost", database: "reached" });
  });

  it("say whether it reaches the database, whatever they say of NATS", () => {
    expect(reachesOf(checks("Healthy", "Unhealthy"))).toEqual({ nats: "reached", database: "lost" });
    expect(reachesOf(checks("Unhealthy", "Unhealthy"))).toEqual({ nats: "lost", database: "lost" });
  });

  it("say nothing of what they do not name, as when the node is stopping", () => {
    for (const none of [undefined, [], [{ name: "cluster", status: "Unhealthy" }], "nats"])
      expect(reachesOf(none)).toEqual({ nats: "unknown", database: "unknown" });
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

describe("the question", () => {
  afterEach(() => {
    session.set({ kind: "none" });
    vi.unstubAllGlobals();
  });

  it("has no credentials: a node without its database could not tell whose they are, and says its checks", async () => {
    vi.stubGlobal("sessionStorage", { setItem: vi.fn(), removeItem: vi.fn() });
    session.set({ kind: "key", key: "mine" });
    const asked = vi.fn((_address: string, { headers }: { headers: Headers }) => {
      const known = { status: 503, checks: checks("Healthy", "Unhealthy") };
      const unknown = { status: 503 };
      const body = headers.get("Authorization") ? unknown : known;
      return Promise.resolve(new Response(JSON.stringify(body), { status: 503 }));
    });
    vi.stubGlobal("fetch", asked);
    const reaches = await new QueryClient().fetchQuery({ ...reachesQuery, retry: false });
    expect(reaches).toEqual({ nats: "reached", database: "lost" });
    expect(asked).toHaveBeenCalledOnce();
  });
});
