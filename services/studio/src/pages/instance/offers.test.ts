import { expect, it } from "vitest";
import { offerOf } from "./offers";

it.each([
  ["staunch instance retry i-1", { is: "retry" }],
  ["staunch instance set i-1 NAME=JSON", { is: "tab", tab: "values" }],
  ["staunch instance restart i-1", { is: "restart" }],
  ["staunch instance migrate i-1 --to 4", { is: "migrate" }],
  ["staunch instance cancel i-1", { is: "cancel" }],
  ["staunch instance unpause i-1", { is: "unpause" }],
  ["staunch instance resume i-1 --bookmark 77a0", { is: "tab", tab: "waits" }],
  ["staunch why i-2", { is: "instance", id: "i-2" }],
  ["staunch why i-1", undefined],
  ["staunch instance retry i-10", undefined],
  ["staunch instance toString i-1", undefined],
  ["staunch runtime resume --node n1", undefined],
  ["staunch top", undefined],
])("%s is done by the page", (staunch, offer) =>
  expect(offerOf({ what: "do it", staunch }, "i-1")).toEqual(offer),
);

it("an event or the result of a task is sent from the tab of what it waits for", () => {
  const sent = { is: "tab", tab: "waits" };
  const curl = (path: string) => ({
    what: "send it",
    curl: `curl -X POST http://127.0.0.1/elsa/api/${path}`,
  });
  expect(offerOf(curl("events/paid/trigger"), "i-1")).toEqual(sent);
  expect(offerOf(curl("tasks/7/complete -d '{}'"), "i-1")).toEqual(sent);
  expect(offerOf(curl("bookmark-queue/dead-letters/7/replay"), "i-1")).toBeUndefined();
});
