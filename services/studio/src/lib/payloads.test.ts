import { expect, it } from "vitest";
import { beginningOf, payloadOf } from "./payloads";

it("knows the value that stands for a payload, and no other", () => {
  expect(payloadOf({ $payload: "sha256-ab", bytes: 300_000 })).toEqual({ hash: "sha256-ab", bytes: 300_000 });
  for (const other of [null, "sha256-ab", [], {}, { $payload: "sha256-ab" }, { $payload: 1, bytes: 1 }])
    expect(payloadOf(other)).toBeUndefined();
  expect(payloadOf({ $payload: "sha256-ab", bytes: 1, more: true })).toBeUndefined();
});

it("reads the beginning of a payload, and leaves the rest", async () => {
  const parts = ["abc", "d\u00e9f", "never"].map((text) => new TextEncoder().encode(text));
  let isLeft = false;
  const body = () =>
    new ReadableStream<Uint8Array>(
      {
        pull(controller) {
          const part = parts.shift();
          if (part) controller.enqueue(part);
          else controller.close();
        },
        cancel() {
          isLeft = true;
        },
      },
      { highWaterMark: 0 },
    );
  // The character that is cut is left out.
  expect(await beginningOf(body(), 5)).toBe("abcd");
  expect([isLeft, parts.length]).toEqual([true, 1]);
  expect(await beginningOf(body(), 100)).toBe("never");
});
