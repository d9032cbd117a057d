import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { session } from "../api/session";
import { curl, curlJson, quoted, served, staunch, storesOf } from "./shell";

beforeEach(() => {
  // The page does not say which ways to sign in there are.
  vi.stubGlobal("document", { querySelector: () => null });
  vi.stubGlobal("sessionStorage", { setItem: vi.fn(), removeItem: vi.fn() });
});

afterEach(() => {
  session.set({ kind: "none" });
  vi.unstubAllGlobals();
});

it("quotes what a shell would take apart", () => {
  expect(quoted("Acme.ChargeCard@2")).toBe("Acme.ChargeCard@2");
  expect(quoted("")).toBe("''");
  expect(quoted("Ship it's")).toBe(`'Ship it'\\''s'`);
});

it("names the server where it is not the one that is asked by itself", () => {
  expect(staunch("workflow ls", "http://127.0.0.1:5001")).toBe("staunch workflow ls");
  expect(staunch("workflow ls", "https://acme.test/flows")).toBe(
    "staunch workflow ls --server https://acme.test/flows",
  );
});

it("names a key where the server wants one, and never the one that is used here", () => {
  expect(curl("/tasks/pools")).toBe("curl http://localhost/elsa/api/tasks/pools");
  session.set({ kind: "key", key: "mine" });
  expect(curl("/activity-types/Ship%20it/1", "-X DELETE")).toBe(
    "curl -X DELETE 'http://localhost/elsa/api/activity-types/Ship%20it/1' -H \"Authorization: ApiKey $STAUNCH_API_KEY\"",
  );
});

it("names what the server takes: a token where it knows no keys", () => {
  session.set({ kind: "user", name: "alice", access: "a", refresh: "r" });
  expect(curl("/tasks/pools", "", ["user"])).toBe(
    'curl http://localhost/elsa/api/tasks/pools -H "Authorization: Bearer $TOKEN"',
  );
  for (const ways of [["user", "key"], undefined] as const)
    expect(curl("/tasks/pools", "", ways)).toContain("ApiKey $STAUNCH_API_KEY");
});

it("names the server in lines that the server wrote", () => {
  const server = "https://acme.test/flows";
  expect(served("staunch instance restart 6b1f", server)).toBe(
    `staunch instance restart 6b1f --server ${server}`,
  );
  for (const line of [
    "staunch provision",
    "staunch dead replay 7",
    "staunch lease rm --stale",
    "staunch doctor",
    "staunch server --role timer",
    `staunch top --server ${server}`,
  ]) {
    expect(served(line, server)).toBe(line);
  }
});

it("knows which lines ask something else than a server, and need its address", () => {
  expect(storesOf("staunch lease ls")).toEqual(["nats"]);
  expect(storesOf("staunch dead show 5")).toEqual(["nats"]);
  expect(storesOf("staunch user ls")).toEqual(["database"]);
  expect(storesOf("staunch doctor")).toEqual(["nats", "database"]);
  expect(storesOf(staunch("instance ls"))).toEqual([]);
});

it("sends JSON", () => {
  expect(curlJson("/alterations/workflows/retry", { workflowInstanceIds: ["it's"] })).toBe(
    `curl -X POST -H "Content-Type: application/json" -d '{"workflowInstanceIds":["it'\\''s"]}' http://localhost/elsa/api/alterations/workflows/retry`,
  );
});
