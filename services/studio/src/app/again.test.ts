import { environmentManager, QueryClient, QueryObserver } from "@tanstack/react-query";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { Problem } from "../api/problem";
import { againIn, passes } from "./again";

const problem = (status: number, request = "GET /nodes") => new Problem(status, "", "", request);

// Nothing is asked again by itself on a server, which is where there is no window.
environmentManager.setIsServer(() => false);
beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

test("what passes by itself is tried again, and what is refused is not", () => {
  for (const status of [0, 429, 502, 503, 504]) expect(passes(problem(status))).toBe(true);
  for (const status of [400, 401, 403, 404, 409, 500]) expect(passes(problem(status))).toBe(false);
  // A flaw of the page is none of a connection.
  expect(passes(new Error("a flaw"))).toBe(false);
  expect(passes(null)).toBe(false);
});

test("the pauses grow up to a bound, and begin anew after an answer", () => {
  const query = {
    state: { status: "pending", error: null as unknown, dataUpdateCount: 0, errorUpdateCount: 0 },
  };
  const ask = () => againIn(query as never);
  const fail = () => {
    query.state = {
      ...query.state,
      status: "error",
      error: problem(503),
      errorUpdateCount: query.state.errorUpdateCount + 1,
    };
    return ask();
  };
  expect(ask()).toBe(false);
  expect([fail(), fail(), fail(), fail(), fail()]).toEqual([2000, 4000, 8000, 10_000, 10_000]);
  query.state = { ...query.state, status: "success", error: null, dataUpdateCount: 1 };
  expect(ask()).toBe(false);
  expect([fail(), fail()]).toEqual([2000, 4000]);
});

test("a list that failed while the database was down is there once it is back, without a hand", async () => {
  let isDown = true;
  const queryFn = vi.fn(async () => {
    if (isDown) throw problem(503);
    return "rows";
  });
  const client = new QueryClient({ defaultOptions: { queries: { retry: false, refetchInterval: againIn } } });
  const observer = new QueryObserver(client, { queryKey: ["list"], queryFn });
  const leave = observer.subscribe(() => undefined);
  await vi.advanceTimersByTimeAsync(3000);
  expect(observer.getCurrentResult().error).toMatchObject({ status: 503 });
  isDown = false;
  await vi.advanceTimersByTimeAsync(10_000);
  expect(observer.getCurrentResult().data).toBe("rows");
  const calls = queryFn.mock.calls.length;
  await vi.advanceTimersByTimeAsync(60_000);
  expect(queryFn).toHaveBeenCalledTimes(calls);
  leave();
  client.clear();
});
