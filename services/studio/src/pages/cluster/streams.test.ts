import { expect, it } from "vitest";
import type { Api } from "../../api/types";
import { natsShown } from "./streams";

const consumer = { name: "executor", stream: "STAUNCH_COMMANDS", pending: 3, inHand: 1, redelivered: 0 };
const stream = { name: "STAUNCH_EVENTS", isBucket: false, messages: 18_900, bytes: 1 };
const nats = (trouble: string | null) =>
  ({
    streams: [stream, { ...stream, name: "staunch_nodes", isBucket: true }],
    consumers: [{ ...consumer, trouble }],
  }) as unknown as Api["NatsFigures"];

it("shows what NATS says of the queue and the streams", () => {
  expect(natsShown(nats(null)).queue?.pending).toBe(3);
  expect(natsShown(nats(null)).streams.map((one) => one.messages)).toEqual([18_900]);
});

it("shows no zeros for what is not known", () => {
  expect(natsShown(nats("it does not answer")).queue).toBeUndefined();
  expect(natsShown(undefined)).toEqual({ queue: undefined, streams: [] });
});
