import { expect, it, vi } from "vitest";

vi.stubGlobal("sessionStorage", { getItem: () => null });
const { describeLines, endLines, newLines, rotateLines } = await import("./lines");

it("the lines of a secret have no value: the shell puts it in", () => {
  const { staunch, curl, nats } = newLines({
    name: "pay.token",
    typeName: "Text",
    description: "Of the shop",
  });
  expect(staunch).toBe("staunch secret set pay.token --description 'Of the shop'");
  expect(curl).toContain(
    `-d '{"name":"pay.token","typeName":"Text","description":"Of the shop","value":"'"$SECRET"'"}'`,
  );
  expect(nats).toBeUndefined();
  expect(rotateLines("pay.token").curl).toContain(`-d '{"value":"'"$SECRET"'"}'`);
});

it("has no line of staunch for what it cannot do", () => {
  expect(newLines({ name: "a", typeName: "RsaKey" }).staunch).toBeNull();
  const expiresAt = "2026-12-01T00:00:00.000Z";
  expect(newLines({ name: "a", typeName: "Text", expiresAt }).staunch).toBeNull();
  expect(rotateLines("a", expiresAt).staunch).toBeNull();
  expect(rotateLines("a", expiresAt).curl).toContain(`"expiresAt":"${expiresAt}"`);
  expect(describeLines("a", { description: "b" }).staunch).toBeUndefined();
  expect(endLines("revoke", "a").staunch).toBeUndefined();
});

it("describes, revokes and removes with each tool that can", () => {
  expect(describeLines("a", { description: "b" }).curl).toContain(`-X PUT`);
  expect(endLines("revoke", "a").nats).toBe("nats req staunch.api.http.post.secrets.a.revoke '{}'");
  expect(endLines("delete", "a").staunch).toBe("staunch secret rm a");
  expect(endLines("delete", "a").curl).toContain("-X DELETE");
});
