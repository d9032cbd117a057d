import { beforeEach, expect, test, vi } from "vitest";

vi.stubGlobal("sessionStorage", {
  getItem: () => null,
  setItem: () => undefined,
  removeItem: () => undefined,
});

const { t } = await import("../../text");
const { acceptedOutcome, deliver, eventFor, eventPath, isKeptFor, keepFor } = await import("./sending");

const fetched = vi.fn<typeof fetch>();
const answers = (status: number, body: unknown) =>
  fetched.mockImplementation(async () => new Response(JSON.stringify(body), { status }));
const approve = () => deliver(eventPath("Approved"), eventFor("i-1", "i-1:7", null));

beforeEach(() => {
  vi.stubGlobal("fetch", fetched);
  fetched.mockReset();
});

test("an event is for the execution that waits, and its sender learns the outcome", async () => {
  answers(200, { eventName: "Approved", accepted: true, affected: 1 });
  expect(await approve()).toEqual({ word: t.waits.taken, isKept: false });
  expect(JSON.parse(String(fetched.mock.calls[0]?.[1]?.body))).toEqual({
    workflowInstanceId: "i-1",
    activityInstanceId: "i-1:7",
    workflowExecutionMode: "Synchronous",
    input: null,
  });
});

test("of two who send at once, the slower one is not told that it was sent", async () => {
  answers(409, { title: "Conflict", detail: "already resumed: instance i-1 is over: it is Finished" });
  await expect(approve()).rejects.toThrow(t.waits.late);
  answers(404, { title: "Not found", detail: "the execution i-1:7 does not wait for the event" });
  await expect(approve()).rejects.toThrow(t.waits.late);
});

test("what nobody carries out yet is accepted, and no more", async () => {
  answers(202, { eventName: "Approved", accepted: true });
  expect(await approve()).toEqual({ word: t.waits.accepted, isKept: true });
});

test("the report of a task that is over is late, and one to an instance is accepted", async () => {
  answers(202, { taskId: "t-1", accepted: true });
  await expect(deliver("/tasks/t-1/complete", { result: 1 })).rejects.toThrow(t.waits.late);
  answers(202, { workflowInstanceId: "i-1", subStatus: "Suspended" });
  expect(await deliver("/tasks/t-1/complete", { result: 1 })).toMatchObject({ word: t.waits.accepted });
});

test("what is wrong in another way is said as it is", async () => {
  answers(400, { title: "Bad request", detail: "the input is no object" });
  await expect(approve()).rejects.toThrow("The input is no object.");
});

test("what is accepted only says why, and what becomes of it", async () => {
  const call = { bookmarkId: "b-1" } as never;
  const accepted = { word: t.waits.accepted, isKept: true };
  const paused = { word: t.waits.kept, isKept: true };
  const calling = { word: t.waits.calls, isKept: false };
  expect(acceptedOutcome({ isPaused: false, calls: [] }, "b-1")).toEqual(accepted);
  expect(acceptedOutcome({ isPaused: true }, "b-1")).toEqual(paused);
  expect(acceptedOutcome({ isPaused: true, calls: [call] }, "b-1")).toEqual(calling);
  expect(acceptedOutcome({ isPaused: false, calls: [call] }, "b-2")).toEqual(accepted);
  answers(202, { workflowInstanceId: "i-1", subStatus: "Suspended" });
  expect(await deliver("/workflow-instances/i-1/resume", {}, t.waits.taken, paused)).toEqual(paused);
});

test("what is kept for a bookmark is known until the instance changes", () => {
  const [first, second] = ["2026-11-25T12:00:00Z", "2026-11-25T12:00:01Z"];
  expect(isKeptFor("i-1", "b-1", first)).toBe(false);
  keepFor("i-1", "b-1", first);
  expect(isKeptFor("i-1", "b-1", first)).toBe(true);
  expect(isKeptFor("i-1", "b-2", first)).toBe(false);
  expect(isKeptFor("i-2", "b-1", first)).toBe(false);
  expect(isKeptFor("i-1", "b-1", second)).toBe(false);
  expect(isKeptFor("i-1", "b-1", first)).toBe(false);
});
