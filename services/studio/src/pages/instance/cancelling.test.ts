import { expect, test } from "vitest";
import { endOf, lateFor } from "./cancelling";

test("a cancellation says what it did, and what it came too late for", () => {
  expect(endOf({ cancelled: true, subStatus: "Cancelled" }).is).toBe("cancelled");
  expect(endOf({ cancelled: false, subStatus: "Executing" }).is).toBe("accepted");
  const finished = endOf({ cancelled: false, subStatus: "Finished" });
  expect(finished).toEqual({
    is: "late",
    said: "It was not cancelled: it had ended already. Its state is Finished.",
  });
  expect(endOf({ cancelled: false, subStatus: "Faulted" }).said).toContain("Its state is Faulted.");
  expect(endOf({ cancelled: false, subStatus: "Cancelled" })).toEqual({
    is: "late",
    said: "It was cancelled already, by somebody else.",
  });
});

test("an instance that somebody else ends meanwhile is asked about no more", () => {
  expect(["Suspended", "Executing", "Pending"].map(lateFor)).toEqual([undefined, undefined, undefined]);
  expect(lateFor("Finished")).toContain("it had ended already");
  expect(lateFor("Cancelled")).toBe("It was cancelled already, by somebody else.");
});
