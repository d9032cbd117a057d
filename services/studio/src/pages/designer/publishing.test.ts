import { afterEach, describe, expect, it, vi } from "vitest";
import { TYPES } from "../../model/testing";
import { changesSince, essence, storedOf, toPublish } from "./publishing";

const AT = "2026-01-31T08:00:00Z";

it.each([
  [undefined, true, { what: "first", version: 1 }],
  [{ version: 3, isPublished: false }, false, { what: "draft", version: 3 }],
  [{ version: 3, isPublished: false, publishedAt: null }, true, { what: "draft", version: 3 }],
  [{ version: 3, isPublished: true, publishedAt: AT }, true, { what: "changed", version: 4 }],
  [{ version: 3, isPublished: true, publishedAt: AT }, false, { what: "again", version: 3 }],
  // A run of the draft, or a retraction, leaves a version that is not published and never changes.
  [{ version: 3, isPublished: false, publishedAt: AT }, false, { what: "draft", version: 3 }],
  [{ version: 3, isPublished: false, publishedAt: AT }, true, { what: "changed", version: 4 }],
])("says what the server will publish: %j, changed: %s", (latest, isDirty, published) =>
  expect(toPublish(latest, isDirty)).toEqual(published),
);

it("compares the graph as it is with a saved version, whatever the server has added", () => {
  const said = (text: string, more = {}) => ({
    version: 1,
    root: {
      type: "Elsa.Sequence",
      id: "r",
      activities: [{ type: "Elsa.WriteLine", id: "say", text, ...more }],
    },
  });
  const saved = { ...said("hi"), version: 2, description: null, isLatest: true };
  expect(changesSince(saved, said("hi", { customProperties: {} }), TYPES)).toEqual([]);
  expect(changesSince(saved, said("ho"), TYPES)).toMatchObject([
    { did: "changed", id: "say", values: [{ path: ["text"], before: "hi", after: "ho" }] },
  ]);
});

describe("what the server has", () => {
  afterEach(() => vi.unstubAllGlobals());

  /** Answers with these versions, the latest last, and keeps what was asked. */
  function server(versions: { version: number; isPublished: boolean }[]): string[] {
    const asked: string[] = [];
    vi.stubGlobal("sessionStorage", { getItem: () => null });
    vi.stubGlobal("fetch", async (path: string) => {
      const { pathname, searchParams } = new URL(path, "http://localhost");
      const wanted = searchParams.get("versionOptions") ?? "";
      asked.push(`${pathname.split("/").at(-1)} ${wanted}`);
      const published = versions.filter((one) => one.isPublished);
      if (pathname.endsWith("/workflow-definitions"))
        return Response.json({ items: published, totalCount: published.length });
      const found =
        wanted === "Latest" ? versions.at(-1) : versions.find((one) => `${one.version}` === wanted);
      return found ? Response.json(found) : Response.json({ status: 404 }, { status: 404 });
    });
    return asked;
  }

  it("of a workflow that was never published no published version is opened", async () => {
    const draft = { version: 2, isPublished: false };
    const asked = server([draft]);
    expect(await storedOf("d")).toEqual({ latest: draft, published: undefined });
    expect(asked).toEqual(["export Latest", "workflow-definitions Published"]);
  });

  it("is the draft, and the version that is published", async () => {
    const [first, second] = [
      { version: 1, isPublished: true },
      { version: 2, isPublished: false },
    ];
    const asked = server([first, second]);
    expect(await storedOf("d")).toEqual({ latest: second, published: first });
    expect(asked).toEqual(["export Latest", "workflow-definitions Published", "export 1"]);
  });

  it("is asked once where the latest version is published", async () => {
    const only = { version: 1, isPublished: true };
    const asked = server([only]);
    expect(await storedOf("d")).toEqual({ latest: only, published: only });
    expect(asked).toEqual(["export Latest"]);
  });
});

it("compares what an author wrote with what the server writes", () => {
  const written = { name: "n", variables: [{ name: "a", value: 0 }], options: {} };
  const answered = {
    name: "n",
    variables: [{ name: "a", value: 0, storageDriverTypeName: null }],
    options: { usableAsActivity: null },
    outputs: [],
  };
  expect(essence(answered)).toEqual(essence(written));
  expect(essence({ ...written, name: "m" })).not.toEqual(essence(answered));
});
