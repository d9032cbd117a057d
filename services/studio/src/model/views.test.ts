import { describe, expect, it } from "vitest";
import { Index, slotsOf } from "./activities";
import { aligned } from "./align";
import { addActivity, remove } from "./commands";
import { nextTimes, readCron } from "./cron";
import { Types } from "./descriptors";
import { convert, literalFault, literalOf, readInput, writeInput } from "./expressions";
import { type Json, type Members, membersOf, readText } from "./json";
import { arrange, CARD, HEIGHT, placeFor, placesOf, WIDTH, widthOf } from "./layout";
import { newActivity, newDefinition } from "./make";
import { literalList, outcomesOf } from "./outcomes";
import { apply, valueAt } from "./patch";
import { problemsOf } from "./problems";
import { completionsOf, scopeOf } from "./scope";
import { syntaxFault } from "./syntax";
import { indexOf, TYPES } from "./testing";
import { crumbsOf, pageInside, pageOf, ROOT, viewOf } from "./view";

const line = (id: string): Members => ({ id, name: id, type: "Elsa.WriteLine" });
const to = (from: string, target: string, port = "Done"): Json => ({
  source: { activity: from, port },
  target: { activity: target, port: "In" },
});
const flow = (activities: Json[], connections: Json[] = [], more: Members = {}): Members => ({
  definitionId: "d",
  ...more,
  root: { type: "Elsa.Flowchart", id: "flow", activities, connections },
});

describe("views", () => {
  const doc = flow(
    [
      line("a"),
      {
        id: "s",
        type: "Elsa.Sequence",
        activities: [
          line("b"),
          // biome-ignore lint/suspicious/noThenProperty: the port of Elsa.If has this name
          { id: "i", type: "Elsa.If", then: line("c") },
        ],
      },
    ],
    [to("a", "s")],
  );
  const index = indexOf(doc);

  it("show a flowchart, a sequence and a place of one activity", () => {
    expect(viewOf(index, ROOT)).toMatchObject({
      kind: "flow",
      lines: [{ from: "a", to: "s", port: "Done", index: 0 }],
    });
    const inside = pageInside(index, "s");
    expect(viewOf(index, inside)).toMatchObject({ kind: "list", lines: [{ from: "b", to: "i" }] });
    expect(pageOf(index, "c")).toEqual({ owner: "i", slot: "then" });
    expect(viewOf(index, pageOf(index, "c"))).toMatchObject({ kind: "single", key: "c" });
    expect(viewOf(index, { owner: "i", slot: "else" }).kind).toBe("empty");
    expect(crumbsOf(index, { owner: "i", slot: "then" }).map((crumb) => crumb.page)).toEqual([
      ROOT,
      inside,
      { owner: "i", slot: "then" },
    ]);
  });

  it("make a flowchart of an empty place, and around a single activity", () => {
    const type = TYPES.get("Elsa.WriteLine");
    if (!type) throw new Error("no type");
    const made = newActivity(type, "WriteLine1", { x: 0, y: 0 }, false, "n");
    const empty = apply(
      doc,
      addActivity(index, viewOf(index, { owner: "i", slot: "else" }), made, {}, "add").patches,
    ).doc;
    expect(viewOf(indexOf(empty), { owner: "i", slot: "else" })).toMatchObject({
      kind: "flow",
      items: [{ key: "n" }],
    });
    const single = apply(
      doc,
      addActivity(
        index,
        viewOf(index, pageOf(index, "c")),
        made,
        { after: { key: "c", port: "Done" } },
        "add",
      ).patches,
    ).doc;
    expect(viewOf(indexOf(single), { owner: "i", slot: "then" })).toMatchObject({
      kind: "flow",
      lines: [{ from: "c", to: "n" }],
    });
  });

  it("make an activity of a workflow with each member once, and nothing to fill in it", () => {
    const line = TYPES.get("Elsa.WriteLine");
    if (!line) throw new Error("no type");
    const type = {
      ...line,
      typeName: "Sum",
      version: 3,
      ports: [{ name: "Root", displayName: "Root", type: "Embedded", isBrowsable: false }],
      constructionProperties: { WorkflowDefinitionId: "sum", WorkflowDefinitionVersionId: "v3", Version: 3 },
    };
    const made = newActivity(type, "Sum1", { x: 0, y: 0 }, false, "n");
    expect(made).toMatchObject({
      version: 3,
      workflowDefinitionId: "sum",
      workflowDefinitionVersionId: "v3",
    });
    const names = Object.keys(made).map((name) => name.toLowerCase());
    expect(new Set(names).size).toBe(names.length);
    expect(slotsOf(made, type)).toEqual([]);
    expect(slotsOf({ ...made, root: { id: "r", type: "Elsa.WriteLine" } }, type)).toHaveLength(1);
  });

  it("insert into a line, and remove with its lines", () => {
    const view = viewOf(index, ROOT);
    const cut = view.lines[0];
    if (!cut) throw new Error("no line");
    const after = apply(
      doc,
      addActivity(index, view, line("n"), { line: { line: cut, port: "Done" } }, "add").patches,
    ).doc;
    const next = viewOf(indexOf(after), ROOT);
    expect(next.lines.map(({ from, to: target }) => [from, target])).toEqual([
      ["a", "n"],
      ["n", "s"],
    ]);
    const less = apply(after, remove(indexOf(after), next, ["n"], [], "remove").patches).doc;
    expect(viewOf(indexOf(less), ROOT)).toMatchObject({ lines: [], items: [{ key: "a" }, { key: "s" }] });
  });

  it("place what has no place beside what has one", () => {
    const placed = flow(
      [{ ...line("a"), metadata: { designer: { position: { x: 5, y: 6 } } } }, line("b")],
      [to("a", "b")],
    );
    expect(placesOf(viewOf(indexOf(placed), ROOT)).get("b")).toEqual({ x: 5 + WIDTH + 72, y: 6 });
    const all = [
      ...arrange(viewOf(indexOf(flow([line("a"), line("b"), line("c")], [to("a", "b")])), ROOT)).values(),
    ];
    expect(new Set(all.map(({ x, y }) => `${x} ${y}`)).size).toBe(3);
    expect(
      aligned(
        new Map([
          ["a", { x: 1, y: 2 }],
          ["b", { x: 9, y: 8 }],
        ]),
        ["a", "b"],
        "top",
        () => HEIGHT,
      ).get("b"),
    ).toEqual({ x: 9, y: 2 });
  });
});

describe("places", () => {
  const asks = { id: "ask", type: "Elsa.FlowDecision" };
  const doc = flow(
    [asks, { ...line("b"), metadata: {} }, { ...line("c"), metadata: {} }],
    [to("ask", "b"), to("ask", "c")],
  );
  const long = ["200", "Unmatched status code", "Done"] as const;
  const ports = (key: string) => (key === "ask" ? long : ["Done"]);
  /** Where the longest name of an outcome ends, with some of its line. */
  const end = CARD + 8 + long[1].length * 6;

  it("leave room for the names of outcomes", () => {
    const view = viewOf(indexOf(doc), ROOT);
    const places = arrange(view, undefined, ports);
    expect(places.get("ask")?.x).toBe(0);
    for (const key of ["b", "c"]) expect(places.get(key)?.x).toBeGreaterThan(end);
    const put = flow(
      [
        { ...asks, metadata: { designer: { position: { x: 0, y: 0 } } } },
        { ...line("b"), metadata: {} },
      ],
      [to("ask", "b")],
    );
    expect(placesOf(viewOf(indexOf(put), ROOT), undefined, ports).get("b")?.x).toBeGreaterThan(end);
    expect(placeFor(new Map([["ask", { x: 0, y: 0 }]]), "ask", ports).x).toBeGreaterThan(end);
  });

  it("are as close as before where no name needs room", () => {
    expect([[], ["A single outcome has no name there"], ["True", "False"]].map(widthOf)).toEqual([
      WIDTH,
      WIDTH,
      WIDTH,
    ]);
  });
});

describe("outcomes", () => {
  const of = (activity: Members) => outcomesOf(activity, TYPES.get(String(activity.type)));
  it("follow the type and its inputs", () => {
    expect(of(line("a"))).toEqual(["Done"]);
    expect(of({ type: "Elsa.FlowDecision" })).toEqual(["True", "False"]);
    expect(of({ type: "Elsa.FlowSwitch", cases: [{ label: "A" }] })).toEqual(["A", "Default"]);
    expect(
      of({
        type: "Elsa.FlowFork",
        branches: { typeName: "String[]", expression: { type: "Object", value: '["x","y"]' } },
      }),
    ).toEqual(["x", "y"]);
    expect(of({ type: "Elsa.End" })).toEqual([]);
    expect(literalList("200, 404")).toEqual(["200", "404"]);
  });
});

describe("expressions", () => {
  const input = TYPES.get("Elsa.For")?.inputs[0];
  if (!input) throw new Error("no input");
  it("are read and written in the form that is there", () => {
    const held: Members = {
      type: "Elsa.For",
      start: { typeName: "Int32", expression: { type: "Literal", value: "4" }, memoryReference: { id: "x" } },
    };
    expect(readInput(held, input)).toEqual({ type: "Literal", value: "4", isGiven: true });
    expect(writeInput(held, input, "JavaScript", "1+1")).toEqual({
      typeName: "Int32",
      expression: { type: "JavaScript", value: "1+1" },
      memoryReference: { id: "x" },
    });
    expect(writeInput({}, input, "Literal", 3)).toEqual({
      typeName: "Int32",
      expression: { type: "Literal", value: 3 },
    });
    expect(literalOf("5", input, "4")).toBe("5");
    expect(literalOf("5", input, undefined)).toBe(5);
    expect(convert("a", "Literal", "JavaScript")).toBe('"a"');
    expect(convert({ name: "x" }, "Variable", "Literal")).toBeUndefined();
  });
  it("have faults", () => {
    expect(literalFault("x", "Int32")).toBe("whole");
    expect(literalFault("00:00:05", "TimeSpan")).toBeUndefined();
    for (const worded of ["90s", "1h", "1h 30m", "5 minutes", "1.5 days"])
      expect(literalFault(worded, "TimeSpan")).toBeUndefined();
    for (const wrong of ["soon", "5 apples", "1h soon", "h"])
      expect(literalFault(wrong, "TimeSpan")).toBe("span");
    expect(syntaxFault("f(1", "JavaScript")).toMatchObject({
      is: "notClosed",
      sign: "(",
      line: 1,
      column: 2,
    });
    expect(syntaxFault("1 +", "JavaScript")).toMatchObject({ is: "scriptEnd" });
    expect(syntaxFault("`a $" + "{b} (` // c:", "JavaScript")).toBeUndefined();
    expect(syntaxFault("x.replace(/[(]/, '')", "JavaScript")).toBeUndefined();
    expect(syntaxFault("{{ a }", "Liquid")).toMatchObject({ is: "notClosed", sign: "{{" });
  });
  it("see variables, inputs, and outputs of activities before", () => {
    const doc = flow(
      [
        { id: "e", name: "Event1", type: "Elsa.Event" },
        line("a"),
        { id: "z", name: "Later", type: "Elsa.Event" },
      ],
      [to("e", "a"), to("a", "z")],
      {
        variables: [{ id: "v", name: "Total", typeName: "Int32" }],
        inputs: [{ name: "Order", type: "String" }],
      },
    );
    const scope = scopeOf(indexOf(doc), "a");
    expect(scope.outputs.map((one) => one.activity)).toEqual(["Event1"]);
    const words = completionsOf(scope, "JavaScript").map((one) => one.label);
    expect(words).toEqual(
      expect.arrayContaining(["variables.Total", "getTotal()", "getOrder()", "getResultFromEvent1()"]),
    );
    expect(completionsOf(scope, "Liquid").map((one) => one.label)).toContain("Variables.Total");
  });
});

describe("problems", () => {
  const faults = (doc: Json) => problemsOf(indexOf(doc)).map((one) => one.fault.is);
  it("name what is wrong", () => {
    expect(faults(newDefinition("d", "D"))).toEqual(["empty"]);
    expect(faults(flow([line("a"), line("b")], [to("a", "b")]))).toEqual([]);
    expect(faults(flow([{ id: "x", type: "Acme.Gone" }]))).toEqual(["type"]);
    expect(faults(flow([line("a"), line("a")]))).toContain("double");
    expect(faults(flow([line("a")], [to("a", "nowhere")]))).toEqual(["line"]);
    expect(faults(flow([line("a"), line("b")], [to("a", "a")]))).toEqual(["unreached"]);
    expect(
      faults(
        flow([
          {
            id: "c",
            type: "Elsa.Cron",
            cronExpression: { typeName: "String", expression: { type: "Literal", value: "nope" } },
          },
        ]),
      ),
    ).toEqual(["cron"]);
    expect(
      faults(
        flow([
          {
            ...line("a"),
            text: { typeName: "String", expression: { type: "Variable", value: { id: "q", name: "Q" } } },
          },
        ]),
      ),
    ).toEqual(["variable"]);
    const request = TYPES.get("Elsa.Switch");
    if (!request) throw new Error("no type");
    const [cases] = request.inputs;
    if (!cases) throw new Error("no input");
    const codes = { ...cases, name: "ExpectedStatusCodes", uiHint: "http-status-codes" };
    const types = new Types([...TYPES.all, { ...request, typeName: "Elsa.Request", inputs: [codes] }]);
    const ask = (statusCode: Json) =>
      problemsOf(
        new Index(flow([{ id: "r", type: "Elsa.Request", expectedStatusCodes: [{ statusCode }] }]), types),
      ).map(({ fault }) => fault);
    expect([ask(200), ask("200")]).toEqual([[], []]);
    expect(ask("abc")).toMatchObject([{ is: "literal", value: "abc", fault: "whole" }]);
    for (const [code, value] of [
      ["", ""],
      [null, ""],
      [-5, "-5"],
      [99, "99"],
      [600, "600"],
    ] as const)
      expect(ask(code)).toMatchObject([{ is: "literal", value, fault: "status" }]);
    expect([ask(100), ask(599)]).toEqual([[], []]);
    // A case that has no code yet is called by its place.
    const labels = (statusCode: Json) =>
      slotsOf(
        { id: "r", type: "Elsa.Request", expectedStatusCodes: [{ statusCode }] },
        types.get("Elsa.Request"),
      ).map(({ label }) => label);
    expect([labels(404)[0], labels("")[0]]).toEqual(["404", `${codes.displayName} 1`]);
    expect(faults(flow([line("a")], [], { variables: [{ name: "A" }, { name: "A" }] }))).toEqual(["name"]);
  });
});

describe("cron", () => {
  const times = (text: string, zone = "UTC") =>
    nextTimes(text, 2, Date.parse("2026-03-28T12:00:30Z"), zone).map((time) => new Date(time).toISOString());
  it("has next times, in a zone, over a change of clocks", () => {
    expect(times("*/15 * * * *")).toEqual(["2026-03-28T12:15:00.000Z", "2026-03-28T12:30:00.000Z"]);
    expect(times("0 0 9 * * MON-FRI")).toEqual(["2026-03-30T09:00:00.000Z", "2026-03-31T09:00:00.000Z"]);
    expect(times("0 9 * * *", "Europe/Berlin")).toEqual([
      "2026-03-29T07:00:00.000Z",
      "2026-03-30T07:00:00.000Z",
    ]);
    expect(times("0 0 L * *")).toEqual(["2026-03-31T00:00:00.000Z", "2026-04-30T00:00:00.000Z"]);
    expect(() => readCron("61 * * * *")).toThrow(
      expect.objectContaining({ reason: { is: "cronValue", text: "61", field: "minute", from: 0, to: 59 } }),
    );
  });
});

it("an exact number is a number to the canvas", () => {
  const doc = readText(
    '{"root":{"type":"Elsa.Flowchart","id":"f","activities":[{"id":"a","type":"Elsa.WriteLine","metadata":{"designer":{"position":{"x":1.50,"y":2.0}}}}]}}',
  );
  expect(viewOf(indexOf(doc), ROOT).items[0]?.at).toEqual({ x: 1.5, y: 2 });
  expect(membersOf(valueAt(doc, ["root", "activities", 0]))?.id).toBe("a");
});
