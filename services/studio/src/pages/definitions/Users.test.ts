import { QueryClient, QueryClientProvider } from "@tanstack/react-query";
import { createElement } from "react";
import { renderToStaticMarkup } from "react-dom/server";
import { expect, it, vi } from "vitest";

vi.stubGlobal("sessionStorage", { getItem: () => null, setItem: vi.fn(), removeItem: vi.fn() });
const { Users, usersQuery } = await import("./Users");

/** The part of the dialog as text, with what the server says of the users. */
function drawn(deed: "retract" | "delete", consumers: string[], callers: string[]): string {
  const client = new QueryClient();
  client.setQueryData(usersQuery("sum").queryKey, {
    consumingWorkflowDefinitionIds: consumers,
    callingWorkflowDefinitionIds: callers,
  });
  const users = createElement(Users, { definition: "sum", deed });
  return renderToStaticMarkup(createElement(QueryClientProvider, { client }, users));
}

it("names what uses a definition, and what becomes of it", () => {
  expect(drawn("retract", ["parent"], [])).toMatch(/go on running it:.*parent/);
  expect(drawn("delete", ["parent"], [])).toMatch(/cannot be deleted before them:.*parent/);
  expect(drawn("retract", [], ["caller"])).toMatch(/start it by its id.*caller/);
  expect(drawn("delete", [], [])).not.toContain("<li");
});
