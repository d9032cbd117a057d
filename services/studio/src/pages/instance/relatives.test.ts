import { expect, it } from "vitest";
import { idsIn, namesIn } from "./relatives";

it("calls the relatives of an instance by their names, or as their definitions", () => {
  const family = {
    parent: { workflowInstanceId: "p", subStatus: "Suspended" },
    children: [{ workflowInstanceId: "a" }, { workflowInstanceId: "b" }],
  };
  expect(idsIn(family)).toEqual(["p", "a", "b"]);
  const found = [
    { id: "p", definitionId: "order" },
    { id: "a", name: "Order 7", definitionId: "order" },
    { id: "b", name: null, definitionId: "pay" },
  ];
  const names = namesIn(found, new Map([["order", "Orders"]]));
  expect(["p", "a", "b"].map((id) => names.get(id))).toEqual(["Orders", "Order 7", "pay"]);
});
