import { afterEach, expect, it, vi } from "vitest";

vi.stubGlobal("sessionStorage", { getItem: () => null });
const { Problem } = await import("../../api/problem");
const { importFiles, wrongFiles } = await import("./importing");

const fetched = vi.fn<typeof fetch>();
vi.stubGlobal("fetch", fetched);
afterEach(() => fetched.mockReset());

const sent = () => fetched.mock.calls[0]?.[1]?.body as FormData;

it("sends every file as it is: the server reads JSON, YAML and zips of both", async () => {
  const draft = { file: "a.yaml", definitionId: "a", name: null, version: 1, isNew: true };
  const said = { count: 1, files: [draft], leftOut: ["notes.txt"] };
  fetched.mockResolvedValue(new Response(JSON.stringify(said)));
  const files = [new File(["- type: WriteLine"], "a.yaml"), new File(["PK"], "more.zip")];
  expect(await importFiles(files)).toEqual(said);
  expect(fetched).toHaveBeenCalledTimes(1);
  const names = sent()
    .getAll("files")
    .map((file) => (file as File).name);
  expect(names).toEqual(["a.yaml", "more.zip"]);
  expect(await (sent().getAll("files")[0] as File).text()).toBe("- type: WriteLine");
});

it("says of each wrong file what is wrong, and that nothing was imported", async () => {
  const failed = [
    { file: "b.yaml", detail: "b.yaml: line 1, column 7: it ends too early" },
    { file: "c.json", detail: "c.json: a.json has the same id, a" },
  ];
  const detail = failed.map((one) => one.detail).join("; ");
  fetched.mockResolvedValue(new Response(JSON.stringify({ detail, failed }), { status: 400 }));
  const refusal = await importFiles([new File([""], "b.yaml")]).catch((error: unknown) => error);
  expect(refusal).toBeInstanceOf(Problem);
  expect(refusal).toMatchObject({ errors: ["Nothing was imported."] });
  expect(wrongFiles(refusal)).toEqual(failed.map((one) => one.detail));
});

it("says nothing of files where the refusal is about none", async () => {
  fetched.mockResolvedValue(new Response(JSON.stringify({ detail: "not now" }), { status: 503 }));
  const refusal = await importFiles([new File([""], "a.json")]).catch((error: unknown) => error);
  expect(refusal).toMatchObject({ status: 503, errors: [] });
  expect(wrongFiles(refusal)).toEqual([]);
});
