import { describe, expect, it } from "vitest";
import { type Listener, linesOf, nameOf, toneOf } from "./listening";

const stream: Listener = {
  hash: "3f2c",
  kind: "stream",
  name: "ORDERS",
  filter: "orders.*.new",
  stream: "ORDERS",
  consumer: "staunch-3f2c",
  begins: "new",
  isKept: true,
  isInOrder: false,
  hasPredicate: false,
  state: "listening",
  reason: null,
  lag: 3,
  inHand: 0,
  redelivered: 0,
  delivered: 41,
  deliveredAt: "2026-11-21T09:04:29.000Z",
  createdAt: "2026-11-20T08:00:00.000Z",
  waiting: 2,
  definitions: [{ definitionId: "order", starts: true, waiting: 2, isAllowed: true }],
  definitionCount: 1,
};
const heard: Listener = {
  ...stream,
  kind: "subject",
  name: null,
  stream: null,
  consumer: null,
  isKept: false,
  lag: null,
};

describe("a source that workflows listen to", () => {
  it("has the commands for its consumer, or for its subject where there is none", () => {
    expect(linesOf(stream)).toEqual({
      staunch: "staunch listener ls --server http://localhost",
      nats: "nats consumer info ORDERS staunch-3f2c",
      curl: "curl http://localhost/elsa/api/cluster/listeners",
    });
    expect(linesOf(heard).nats).toBe("nats sub 'orders.*.new'");
  });

  it("is called what keeps its messages, or as its subject", () => {
    expect([nameOf(stream), nameOf(heard)]).toEqual(["ORDERS", "orders.*.new"]);
  });

  it("looks as bad as it is", () => {
    expect(toneOf("listening")).toBe("good");
    expect(toneOf("notYet")).toBe("warn");
    for (const state of ["notAllowed", "noExecutor", "noStream"] as const) expect(toneOf(state)).toBe("bad");
    expect(toneOf("unknown")).toBe("plain");
  });
});
