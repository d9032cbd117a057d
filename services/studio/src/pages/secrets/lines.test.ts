import { expect, it, vi } from "vitest";

vi.stubGlobal("sessionStorage", { getItem: () => null });
const { describeLines, endLines, newLines, rotateLines } = await import("./lines");

it("the lines of a secret have no value: a file has it", () => {
  const { staunch, curl, nats } = newLines({
    name: "pay.token",
    typeName: "Text",
    description: "Of the shop",
  });
  expect(staunch).toBe("staunch secret set pay.token --file \"$SECRET_FILE\" --description 'Of the shop'");
  expect(curl).toContain(
    `jq -Rs '{"name":"pay.token","typeName":"Text","description":"Of the shop"} + {value: rtrimstr("\\n")}' "$SECRET_FILE" | curl -X POST`,
  );
  expect(curl).toContain("-d @-");
  expect(nats).toBeUndefined();
  expect(rotateLines("pay.token").curl).toContain(`jq -Rs '{} + {value: rtrimstr("\\n")}' "$SECRET_FILE" |`);
  expect(rotateLines("pay.token").staunch).toBe(`staunch secret set pay.token --file "$SECRET_FILE"`);
});

it("what is said about a secret stays as it is, whatever is in it", () => {
  const { curl } = newLines({ name: "a", typeName: "RsaKey", description: `it's "one" \\(.)` });
  const program = /jq -Rs '(.*)' "\$SECRET_FILE"/.exec(String(curl))?.[1]?.replaceAll(`'\\''`, "'") ?? "";
  const about = JSON.parse(program.split(" + {value")[0] ?? "");
  expect(about.description).toBe(`it's "one" \\(.)`);
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
