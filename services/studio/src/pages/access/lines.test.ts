import { expect, it, vi } from "vitest";

vi.stubGlobal("sessionStorage", { getItem: () => null });
const { applicationLines, disableLines, keyLines, newUserLines, roleLines, userLines } = await import(
  "./lines"
);

it("a user is made with a password that is drawn, or one from a file", () => {
  const drawn = newUserLines("Zoë", ["admin", "viewer"], false);
  expect(drawn.staunch).toBe("staunch user create 'Zoë' --roles 'admin,viewer' --generate");
  expect(drawn.nats).toBe(
    `nats req staunch.api.http.post.identity.users '{"name":"Zoë","roles":["admin","viewer"]}'`,
  );
  const chosen = newUserLines("zoe", [], true);
  expect(chosen.staunch).toBe(`staunch user create zoe --password-file "$SECRET_FILE"`);
  expect(chosen.curl).toContain(`+ {password: rtrimstr("\\n")}' "$SECRET_FILE" | curl -X POST`);
  expect(chosen.nats).toBeUndefined();
});

it("a user is changed: all roles from now on, and the password where one is chosen", () => {
  const zoe = { id: "7", name: "zoe" };
  expect(userLines(zoe, ["admin", "viewer"], false).staunch).toEqual([
    "staunch user set-roles zoe admin viewer",
  ]);
  expect(userLines(zoe, [], true).staunch).toEqual([
    "staunch user set-roles zoe",
    `staunch user set-password zoe --password-file "$SECRET_FILE"`,
  ]);
  expect(userLines(zoe, [], true).curl).toMatch(/-X PUT .*\/identity\/users\/7$/);
  expect(disableLines(zoe).staunch).toBe("staunch user disable zoe");
  expect(disableLines(zoe).curl).toContain(`{"isDisabled":true}`);
});

it("a role is made by the id of its name, and changed by its own; staunch needs a permission", () => {
  const permissions = ["read:*", "run:alterations"];
  expect(roleLines(undefined, { name: "Order clerk", permissions }).staunch).toBe(
    "staunch role create order-clerk --name 'Order clerk' --permissions 'read:*,run:alterations'",
  );
  const changed = roleLines({ id: "r" }, { name: "R", permissions });
  expect(changed.staunch).toContain("staunch role set r --name R");
  expect(changed.nats).toContain("staunch.api.http.put.identity.roles.r ");
  expect(roleLines({ id: "r" }, { name: "R", permissions: [] }).staunch).toBeNull();
});

it("a key has its days and an application its roles", () => {
  expect(keyLines("ci", ["read:labels"], 3 * 86_400).staunch).toBe(
    "staunch key create ci --permissions read:labels --days 3",
  );
  expect(keyLines("ci", ["read:labels"]).curl).toContain(`'{"name":"ci","permissions":["read:labels"]}'`);
  expect(applicationLines("shop", ["viewer"]).staunch).toContain(" shop --roles viewer");
});
