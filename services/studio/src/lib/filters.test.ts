import fc from "fast-check";
import { describe, expect, it } from "vitest";
import {
  beginningsOf,
  comparisonOf,
  fromAddress,
  type InstanceFilter,
  ignoredIn,
  isSpanEmpty,
  STATES,
  timeOf,
  toAddress,
  toCountRequest,
  toPlanFilter,
  toRequest,
  valueText,
  versionOf,
} from "./filters";

const NOW = Date.parse("2026-11-25T12:00:00Z");
const words = fc.string({ minLength: 1, maxLength: 20 });
const trimmed = words.map((text) => text.trim()).filter((text) => text !== "");

const filters: fc.Arbitrary<InstanceFilter> = fc.record({
  text: fc.option(words, { nil: undefined }),
  definition: fc.option(words, { nil: undefined }),
  version: fc.option(fc.nat(), { nil: undefined }),
  states: fc.subarray(STATES),
  incidents: fc.option(fc.boolean(), { nil: undefined }),
  correlation: fc.option(words, { nil: undefined }),
  name: fc.option(words, { nil: undefined }),
  parent: fc.option(words, { nil: undefined }),
  time: fc.constantFrom("CreatedAt", "UpdatedAt", "FinishedAt"),
  since: fc.option(words, { nil: undefined }),
  until: fc.option(words, { nil: undefined }),
  values: fc.array(
    fc.record({
      name: fc.stringMatching(/^[A-Za-z]\w{0,8}$/),
      operator: fc.constantFrom("eq", "ne", "gt", "gte", "lt", "lte", "prefix"),
      value: trimmed.filter((text) => !text.startsWith("=")),
    }),
    { maxLength: 3 },
  ),
  order: fc.constantFrom("Created", "UpdatedAt", "Finished", "Name"),
  ascending: fc.boolean(),
  page: fc.nat({ max: 1000 }),
});

const paged = fc.record({
  page: fc.integer({ min: 1, max: 100_000 }),
  cursor: fc.base64String({ minLength: 4 }),
});

describe("filters", () => {
  it("come back from the address as they went into it", () => {
    fc.assert(
      fc.property(filters, (filter) => {
        const text = new URLSearchParams(
          Object.entries(toAddress(filter)).flatMap(([name, value]) =>
            value === undefined ? [] : [[name, value]],
          ),
        ).toString();
        expect(fromAddress(Object.fromEntries(new URLSearchParams(text)))).toEqual(filter);
      }),
    );
  });

  it("begin where the cursor of their page says, and count no pages then", () => {
    fc.assert(
      fc.property(filters, paged, (filter, place) => {
        const search = toAddress({ ...filter, ...place });
        expect(fromAddress(search)).toMatchObject(place);
        const request = toRequest({ ...filter, ...place }, NOW, 100);
        expect(request.cursor).toBe(place.cursor);
        expect(request).not.toHaveProperty("page");
        // The first page has no place of its own, whatever an address says.
        const first = toRequest({ ...filter, ...place, page: 0 }, NOW, 100);
        expect(first).toMatchObject({ page: 0 });
        expect(first).not.toHaveProperty("cursor");
      }),
    );
  });

  it("leave the address empty as long as nothing is filtered", () => {
    expect(Object.values(toAddress(fromAddress({}))).filter(Boolean)).toEqual([]);
  });

  it("ignore what the address has and nobody knows", () => {
    const read = fromAddress({
      state: "Faulted,Odd",
      page: "-1",
      order: "Colour",
      values: "nothing",
      version: "x",
    });
    expect(read).toMatchObject({
      states: ["Faulted"],
      page: 0,
      order: "Created",
      values: [],
      version: undefined,
    });
  });

  it("name what the address has and nobody knows, and nothing else", () => {
    const odd = {
      state: "Faulted,Odd",
      version: "abc",
      since: "soon",
      incidents: "maybe",
      dir: "left",
      nonsense: "1",
      toString: "2",
    };
    expect(ignoredIn({ ...odd, q: "a", order: "Name", until: "2h", values: "A>1", plan: "p" }, NOW)).toEqual(
      odd,
    );
    const known = filters.map((filter) => ({ ...filter, since: "2h", until: undefined }));
    fc.assert(
      fc.property(known, (filter) => {
        expect(ignoredIn(toAddress(filter), NOW)).toEqual({});
      }),
    );
  });

  it("become a request with times of the server", () => {
    const request = toRequest(
      fromAddress({ since: "2h", state: "Faulted", values: "Amount>=100", time: "FinishedAt" }),
      NOW,
      50,
    );
    expect(request).toMatchObject({
      pageSize: 50,
      subStatuses: ["Faulted"],
      timestampFilters: [
        { column: "FinishedAt", operator: "GreaterThanOrEqual", timestamp: "2026-11-25T10:00:00.000Z" },
      ],
      variableFilters: [{ name: "Amount", operator: "gte", value: "100" }],
    });
  });

  it("are no filter of a plan where the plan cannot say the same", () => {
    expect(toPlanFilter(fromAddress({ version: "3" }), NOW)).toBeUndefined();
    expect(toPlanFilter(fromAddress({ definition: "a", version: "3" }), NOW, "a-3")).toMatchObject({
      definitionVersionIds: ["a-3"],
    });
    expect(toRequest(fromAddress({ parent: "p1" }), NOW, 50)).toMatchObject({
      parentWorkflowInstanceId: "p1",
    });
    expect(toPlanFilter(fromAddress({ definition: "a", name: "b", parent: "p1" }), NOW)).toMatchObject({
      definitionIds: ["a"],
      names: ["b"],
      parentWorkflowInstanceIds: ["p1"],
    });
  });
});

describe("what is done to all that match", () => {
  const until = { column: "CreatedAt", operator: "LessThanOrEqual", timestamp: "2026-11-25T12:00:00.000Z" };

  it("leaves out what comes later, and is counted the same way", () => {
    const filter = fromAddress({ state: "Finished", since: "1h", page: "3", cursor: "c" });
    const times = [
      { ...until, operator: "GreaterThanOrEqual", timestamp: "2026-11-25T11:00:00.000Z" },
      until,
    ];
    expect(toPlanFilter(filter, NOW)?.timestampFilters).toEqual(times);
    const counted = toCountRequest(filter, NOW);
    expect(counted.timestampFilters).toEqual(times);
    expect(counted).toMatchObject({ page: 0, pageSize: 0, subStatuses: ["Finished"] });
    expect(counted.cursor).toBeUndefined();
  });
});

describe("comparisons", () => {
  it.each([
    ["Amount>=100", { name: "Amount", operator: "gte", value: "100" }],
    ["Customer^=Mu", { name: "Customer", operator: "prefix", value: "Mu" }],
    ["Paid = true", { name: "Paid", operator: "eq", value: "true" }],
    ["State!=open", { name: "State", operator: "ne", value: "open" }],
  ])("reads %s", (text, value) => expect(comparisonOf(text)).toEqual(value));

  it.each(["Amount", ">=100", "Amount>=", ""])("refuses %s", (text) =>
    expect(comparisonOf(text)).toBeUndefined(),
  );

  it("writes what it reads", () => expect(valueText({ name: "A", operator: "lt", value: "5" })).toBe("A<5"));
});

describe("timeOf", () => {
  it("takes a span, a time, and nothing else", () => {
    expect(timeOf("15m", NOW)).toBe("2026-11-25T11:45:00.000Z");
    expect(timeOf("2026-11-25T09:00Z", NOW)).toBe("2026-11-25T09:00:00.000Z");
    expect(timeOf("yesterday", NOW)).toBeUndefined();
  });
});

it("comparisons are offered for what can be searched, as its kind can be compared", () => {
  const variables = [
    { name: "Amount", searchable: "number" },
    { name: "Customer", searchable: "text" },
    { name: "Paid", searchable: "boolean" },
    { name: "Note", searchable: null },
  ];
  expect(beginningsOf(variables)).toEqual([
    "Amount>=",
    "Amount<=",
    "Customer=",
    "Customer^=",
    "Paid=true",
    "Paid=false",
  ]);
});

describe("a span", () => {
  it.each([
    [{ since: "2h", until: "5h" }, true],
    [{ since: "5h", until: "2h" }, false],
    [{ since: "2h", until: "2h" }, false],
    [{ since: "2h", until: "2026-11-25T09:00Z" }, true],
    [{ since: "2h" }, false],
    [{ until: "2h" }, false],
    [{ since: "yesterday", until: "5h" }, false],
  ])("%j ends before it begins: %s", (span, isEmpty) => expect(isSpanEmpty(span, NOW)).toBe(isEmpty));
});

it("takes no number that no version can have", () => {
  expect(versionOf("2147483647")).toBe(2_147_483_647);
  for (const text of ["99999999999999999999", "2147483648", "-1", "two", "", undefined])
    expect(versionOf(text)).toBeUndefined();
  const search = { version: "99999999999999999999" };
  expect(toRequest(fromAddress(search), NOW, 50).version).toBeUndefined();
  // The page names it: the list is not narrowed by it.
  expect(ignoredIn(search, NOW)).toEqual(search);
});
