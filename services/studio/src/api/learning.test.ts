import { expect, it, vi } from "vitest";

vi.stubGlobal("sessionStorage", { getItem: () => null, setItem: vi.fn(), removeItem: vi.fn() });
const { get, post } = await import("./client");
const { can, session } = await import("./session");

const answer = (status: number, body: unknown) => new Response(JSON.stringify(body), { status });

it("asks once more what one may do where something is refused, and says so to those who draw it", async () => {
  session.learn(["read:workflow-instances", "cancel:workflow-instances"]);
  const fetched = vi.fn(async (url: RequestInfo | URL) =>
    String(url).endsWith("/identity/me")
      ? answer(200, { permissions: ["read:workflow-instances"] })
      : answer(403, { detail: "cancel:workflow-instances is missing" }),
  );
  vi.stubGlobal("fetch", fetched);
  const changed = vi.fn();
  session.subscribe(changed);
  expect(can("cancel:workflow-instances")).toBe(true);
  await expect(post("/cancel/workflow-instances/i")).rejects.toMatchObject({ status: 403 });
  await vi.waitFor(() => expect(can("cancel:workflow-instances")).toBe(false));
  expect(can("read:workflow-instances")).toBe(true);
  expect(changed).toHaveBeenCalledTimes(1);
  // The same answer changes nothing.
  await expect(get("/nodes")).rejects.toMatchObject({ status: 403 });
  await vi.waitFor(() => expect(fetched).toHaveBeenCalledTimes(4));
  expect(changed).toHaveBeenCalledTimes(1);
});

it("does not ask without end where that is refused, too", async () => {
  const fetched = vi.fn(async () => answer(403, {}));
  vi.stubGlobal("fetch", fetched);
  await expect(get("/nodes")).rejects.toMatchObject({ status: 403 });
  await vi.waitFor(() => expect(fetched).toHaveBeenCalledTimes(2));
});
