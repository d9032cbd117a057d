import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { session } from "../api/session";
import {
  changes,
  curl,
  curlJson,
  natsAlter,
  natsApi,
  natsCancel,
  quoted,
  reads,
  served,
  staunch,
  storesOf,
  token,
} from "./shell";

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

it("writes a name as one token of a subject, byte by byte", () => {
  expect(token("order-7_a")).toBe("order-7_a");
  expect(token("Acme.Ship it")).toBe("Acme=2EShip=20it");
  expect(token("ä")).toBe("=C3=A4");
  expect(token("")).toBe("=");
});

it("asks the API over NATS: the parts of the path are tokens, and the query is a header", () => {
  expect(natsApi("GET", "/schedules?isPaused=true")).toBe(
    "nats req staunch.api.http.get.schedules '' -H 'Staunch-Query: isPaused=true'",
  );
  expect(natsApi("POST", "/schedules/a%2Fb/pause")).toBe(
    "nats req staunch.api.http.post.schedules.a=2Fb.pause ''",
  );
  session.set({ kind: "key", key: "mine" });
  expect(natsApi("POST", "/alterations/dry-run", { names: ["it's"] })).toBe(
    `nats req staunch.api.http.post.alterations.dry-run '{"names":["it'\\''s"]}' -H "Authorization: ApiKey $STAUNCH_API_KEY"`,
  );
});

it("alters and cancels an instance over NATS by subjects of their own", () => {
  expect(natsAlter("i-1", [{ type: "Retry" }])).toBe(
    `nats req staunch.api.alter.i-1 '{"alterations":[{"type":"Retry"}]}'`,
  );
  expect(natsCancel("i-1")).toBe("nats req staunch.api.cancel.i-1 ''");
  expect(natsCancel("i-1", "too late")).toBe(`nats req staunch.api.cancel.i-1 '{"reason":"too late"}'`);
});

it("has the same request for both tools", () => {
  expect(reads("/schedules", { isPaused: undefined, definitionId: "a" })).toEqual({
    nats: "nats req staunch.api.http.get.schedules '' -H 'Staunch-Query: definitionId=a'",
    curl: "curl 'http://localhost/elsa/api/schedules?definitionId=a'",
  });
  expect(changes("DELETE", "/secrets/a").curl).toBe("curl -X DELETE http://localhost/elsa/api/secrets/a");
  expect(changes("PUT", "/secrets/a", { scope: "b" })).toEqual({
    nats: `nats req staunch.api.http.put.secrets.a '{"scope":"b"}'`,
    curl: `curl -X PUT -H "Content-Type: application/json" -d '{"scope":"b"}' http://localhost/elsa/api/secrets/a`,
  });
});
