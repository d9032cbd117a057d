import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";

const kept = new Map<string, string>();
vi.stubGlobal("sessionStorage", {
  getItem: (name: string) => kept.get(name) ?? null,
  setItem: (name: string, value: string) => kept.set(name, value),
  removeItem: (name: string) => kept.delete(name),
});

const { address, changePassword, get, login, post } = await import("./client");
const { Problem } = await import("./problem");
const { session } = await import("./session");

const answer = (status: number, body: unknown) => new Response(JSON.stringify(body), { status });
const fetched = vi.fn<typeof fetch>();

beforeEach(() => {
  vi.stubGlobal("fetch", fetched);
  fetched.mockReset();
  session.set({ kind: "none" });
});

afterEach(() => kept.clear());

describe("requests", () => {
  it("have their query, lists as repeated names, and nothing that is not set", () => {
    expect(address("/workflow-instances", { page: 0, ids: ["a", "b"], name: undefined, text: "" })).toBe(
      "/elsa/api/workflow-instances?page=0&ids=a&ids=b",
    );
    expect(address("/metrics")).toBe("/metrics");
  });

  it("carry an API key", async () => {
    session.set({ kind: "key", key: "k1" });
    fetched.mockResolvedValue(answer(200, {}));
    await get("/nodes");
    expect(new Headers(fetched.mock.calls[0]?.[1]?.headers).get("Authorization")).toBe("ApiKey k1");
  });
});

describe("problems", () => {
  it("keep the name of a file at their begin as it is written", async () => {
    fetched.mockResolvedValue(answer(400, { title: "Bad request", detail: "cron.json is not a definition" }));
    await expect(get("/nodes")).rejects.toMatchObject({ detail: "cron.json is not a definition." });
  });

  it("become sentences, with what is wrong in each member", async () => {
    fetched.mockResolvedValue(
      answer(400, {
        title: "Bad request",
        detail: "the body is not valid",
        errors: { name: ["is missing"] },
        instance: "urn:1",
      }),
    );
    const problem = await post("/secrets", {}).catch((error: unknown) => error);
    expect(problem).toBeInstanceOf(Problem);
    if (!(problem instanceof Problem)) return;
    expect(problem.detail).toBe("The body is not valid.");
    expect(problem.errors).toEqual(["Name: is missing."]);
    expect(problem.report()).toContain("POST /secrets");
    expect(problem.report()).toContain("urn:1");
  });

  it("say once what is said twice, and name no place that is none", async () => {
    const body = {
      title: "Bad request",
      detail: "it is wrong",
      errors: { generalErrors: ["it is wrong", "so is this"] },
    };
    fetched.mockResolvedValue(answer(400, body));
    await expect(get("/nodes")).rejects.toMatchObject({ detail: "It is wrong.", errors: ["So is this."] });
  });

  it("have words where the answer has none", async () => {
    fetched.mockResolvedValue(new Response("<html>bad gateway</html>", { status: 502 }));
    await expect(get("/nodes")).rejects.toMatchObject({
      status: 502,
      title: "The proxy cannot reach the server.",
    });
  });

  it("say that the server does not answer", async () => {
    fetched.mockRejectedValue(new TypeError("failed"));
    await expect(get("/nodes")).rejects.toMatchObject({ status: 0 });
  });
});

describe("sessions", () => {
  it("ask for a login after 401", async () => {
    fetched.mockResolvedValue(answer(401, { title: "Unauthorized" }));
    await expect(get("/nodes")).rejects.toMatchObject({ status: 401 });
    expect(session.isRefused()).toBe(true);
  });

  it("let later requests wait until one has signed in again, and send none before", async () => {
    session.set({ kind: "user", name: "ada", access: "old", refresh: "r1" });
    fetched.mockImplementation(async (_, init) =>
      new Headers(init?.headers).get("Authorization") === "Bearer new" ? answer(200, {}) : answer(401, {}),
    );
    await expect(get("/nodes")).rejects.toMatchObject({ status: 401 });
    const sent = fetched.mock.calls.length;
    const left = new AbortController();
    const later = get("/nodes");
    const dropped = get("/nodes", undefined, left.signal);
    fetched.mockImplementationOnce(async () => {
      throw new DOMException("left", "AbortError");
    });
    left.abort();
    await expect(dropped).rejects.toMatchObject({ name: "AbortError" });
    expect(fetched.mock.calls.length).toBe(sent + 1);
    session.set({ kind: "user", name: "ada", access: "new", refresh: "r2" });
    expect(await later).toEqual({});
    expect(fetched.mock.calls.length).toBe(sent + 2);
  });

  it("send nothing that one person has changed in the name of another", async () => {
    session.set({ kind: "user", name: "ada", access: "old", refresh: "r1" });
    session.refuse();
    const saved = post("/workflow-definitions", {});
    const read = get("/nodes");
    fetched.mockImplementation(async () => answer(200, {}));
    session.set({ kind: "user", name: "bob", access: "new", refresh: "r2" });
    await expect(saved).rejects.toMatchObject({ status: 401 });
    expect(await read).toEqual({});
    expect(fetched).toHaveBeenCalledTimes(1);
  });

  it("refresh their tokens once for several requests, and go on", async () => {
    session.set({ kind: "user", name: "ada", access: "old", refresh: "r1" });
    fetched.mockImplementation(async (url, init) => {
      if (String(url).endsWith("/identity/refresh-token")) {
        return answer(200, { isAuthenticated: true, accessToken: "new", refreshToken: "r2" });
      }
      const sent = new Headers(init?.headers).get("Authorization");
      return sent === "Bearer new" ? answer(200, { node: "n1" }) : answer(401, {});
    });
    expect(await Promise.all([get("/nodes"), get("/nodes")])).toEqual([{ node: "n1" }, { node: "n1" }]);
    expect(fetched.mock.calls.filter(([url]) => String(url).includes("refresh"))).toHaveLength(1);
    expect(session.current()).toMatchObject({ access: "new", refresh: "r2" });
    expect(session.isRefused()).toBe(false);
  });

  it("go on with a new password, also where a request is refused in between", async () => {
    session.set({ kind: "user", name: "ada", access: "old", refresh: "r1" });
    let letIn = (_: Response) => {};
    const loggedIn = new Promise<Response>((resolve) => {
      letIn = resolve;
    });
    fetched.mockImplementation(async (url, init) => {
      if (String(url).endsWith("/identity/password")) return new Response(null, { status: 204 });
      if (String(url).endsWith("/identity/login")) return loggedIn;
      if (String(url).endsWith("/identity/refresh-token")) return answer(401, {});
      const sent = new Headers(init?.headers).get("Authorization");
      return sent === "Bearer new" ? answer(200, { node: "n1" }) : answer(401, {});
    });
    const changed = changePassword("correct horse", "another horse");
    await vi.waitFor(() => expect(fetched).toHaveBeenCalledTimes(2));
    const nodes = get("/nodes");
    await vi.waitFor(() => expect(fetched).toHaveBeenCalledTimes(3));
    letIn(answer(200, { isAuthenticated: true, accessToken: "new", refreshToken: "r2" }));
    await changed;
    expect(await nodes).toEqual({ node: "n1" });
    expect(session.current()).toMatchObject({ name: "ada", access: "new", refresh: "r2" });
    expect(session.isRefused()).toBe(false);
    expect(JSON.parse(String(fetched.mock.calls[0]?.[1]?.body))).toEqual({
      username: "ada",
      currentPassword: "correct horse",
      newPassword: "another horse",
    });
  });

  it("keep the session that begins while the tokens of another one are refused", async () => {
    session.set({ kind: "user", name: "ada", access: "old", refresh: "r1" });
    fetched.mockImplementation(async (url, init) => {
      if (String(url).endsWith("/identity/refresh-token")) {
        session.set({ kind: "user", name: "ada", access: "new", refresh: "r2" });
        return answer(401, {});
      }
      const sent = new Headers(init?.headers).get("Authorization");
      return sent === "Bearer new" ? answer(200, { node: "n1" }) : answer(401, {});
    });
    expect(await get("/nodes")).toEqual({ node: "n1" });
    expect(session.isRefused()).toBe(false);
  });

  it("ask for a login where the new password is set and nothing else is known", async () => {
    session.set({ kind: "user", name: "ada", access: "old", refresh: "r1" });
    fetched.mockImplementation(async (url) =>
      String(url).endsWith("/identity/password") ? new Response(null, { status: 204 }) : answer(503, {}),
    );
    await changePassword("correct horse", "another horse");
    expect(session.isRefused()).toBe(true);
  });

  it("stay where the password until now is wrong", async () => {
    session.set({ kind: "user", name: "ada", access: "old", refresh: "r1" });
    fetched.mockResolvedValue(answer(403, { detail: "the name or the password until now is wrong" }));
    await expect(changePassword("wrong", "another horse")).rejects.toMatchObject({ status: 403 });
    expect(session.current()).toMatchObject({ access: "old" });
    expect(session.isRefused()).toBe(false);
  });

  it("say that a name or password is wrong without an error", async () => {
    fetched.mockResolvedValue(answer(200, { isAuthenticated: false, accessToken: null, refreshToken: null }));
    expect(await login("ada", "x")).toBe(false);
    expect(session.current()).toEqual({ kind: "none" });
  });
});
