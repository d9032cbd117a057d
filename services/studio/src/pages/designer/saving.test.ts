import { afterEach, describe, expect, it, vi } from "vitest";
import { session } from "../../api/session";
import { readText } from "../../model/json";
import { TYPES } from "../../model/testing";
import { forgetSaved, sendDrawn } from "./saving";
import { Studio } from "./store";

afterEach(() => vi.unstubAllGlobals());

const opened = readText(
  '{"id": "v7", "definitionId": "racy", "name": "Racy", "version": 7, "isPublished": true, "root": null}',
);

it("a definition that somebody has removed meanwhile is made anew, and loses nothing that was drawn", async () => {
  const asked: { method: string; body: string; headers: Headers }[] = [];
  vi.stubGlobal("sessionStorage", { getItem: () => null });
  vi.stubGlobal("fetch", async (_: string, init: RequestInit) => {
    asked.push({
      method: init.method ?? "",
      body: String(init.body),
      headers: new Headers(init.headers),
    });
    if (init.method === "GET") return Response.json({ status: 404 }, { status: 404 });
    if (asked.at(-1)?.headers.has("If-Match")) return Response.json({ status: 412 }, { status: 412 });
    const workflowDefinition = { id: "v1", definitionId: "racy", version: 1, isPublished: false };
    return Response.json({ workflowDefinition }, { headers: { ETag: '"1"' } });
  });
  const studio = new Studio(opened, TYPES, opened, '"7"');
  studio.do({ label: "x", patches: [{ do: "set", path: ["name"], value: "Drawn" }] });
  expect(await sendDrawn(studio, false)).toEqual({ latest: undefined });
  expect(studio.isUnsaved()).toBe(true);
  forgetSaved(studio);
  expect(await sendDrawn(studio, false)).toMatchObject({ saved: { version: 1 } });
  const last = asked.at(-1);
  expect(last?.headers.get("If-None-Match")).toBe("*");
  expect(last?.body).toBe('{"model":{"definitionId":"racy","name":"Drawn","root":null},"publish":false}');
  expect(studio.isUnsaved()).toBe(false);
  expect(studio.get().history.doc).toMatchObject({ id: "v1", name: "Drawn", version: 1 });
});

describe("a save whose session is over", () => {
  const asked: string[] = [];
  const user = (name: string, access: string) => ({ kind: "user", name, access, refresh: "r" }) as const;
  const begin = async () => {
    asked.length = 0;
    vi.stubGlobal("sessionStorage", {
      getItem: () => null,
      setItem: () => undefined,
      removeItem: () => undefined,
    });
    vi.stubGlobal("fetch", async (url: string, init: RequestInit) => {
      if (url.endsWith("/identity/refresh-token")) return Response.json({}, { status: 401 });
      const sent = new Headers(init.headers).get("Authorization") ?? "";
      asked.push(sent);
      if (sent === "Bearer old") return Response.json({}, { status: 401 });
      return Response.json({ workflowDefinition: { definitionId: "racy", version: 8 } });
    });
    session.set(user("ada", "old"));
    const studio = new Studio(opened, TYPES, opened, '"7"');
    studio.do({ label: "x", patches: [{ do: "set", path: ["name"], value: "Drawn" }] });
    const sent = sendDrawn(studio, false);
    await vi.waitFor(() => expect(session.isRefused()).toBe(true));
    expect(studio.isUnsaved()).toBe(true);
    return { studio, sent };
  };

  it("is done once the same person is back", async () => {
    const { studio, sent } = await begin();
    session.set(user("ada", "new"));
    expect(await sent).toMatchObject({ saved: { version: 8 } });
    expect(asked).toEqual(["Bearer old", "Bearer new"]);
    expect(studio.isUnsaved()).toBe(false);
  });

  it("is not done in the name of somebody else", async () => {
    const { sent } = await begin();
    const refused = expect(sent).rejects.toMatchObject({ status: 401 });
    session.set(user("bob", "new"));
    await refused;
    expect(asked).toEqual(["Bearer old"]);
  });
});
