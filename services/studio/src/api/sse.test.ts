import fc from "fast-check";
import { expect, it } from "vitest";
import { EventParser } from "./sse";

const STREAM = `retry: 1000
: open

id: 17
event: started
data: {"a":1}

: sign of life

data: one
data: two

`;

const EVENTS = [
  { id: "17", name: "started", data: '{"a":1}' },
  { name: "message", data: "one\ntwo" },
];

it("reads events, wherever the stream is cut", () => {
  fc.assert(
    fc.property(fc.array(fc.nat({ max: STREAM.length }), { maxLength: 8 }), (cuts) => {
      const parser = new EventParser();
      const bounds = [0, ...cuts.sort((a, b) => a - b), STREAM.length];
      const events = bounds.slice(1).flatMap((end, at) => parser.push(STREAM.slice(bounds[at], end)));
      expect(events).toEqual(EVENTS);
    }),
  );
});
