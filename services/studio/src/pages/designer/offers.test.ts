import { beforeEach, describe, expect, it, vi } from "vitest";
import type { ActivityType } from "../../model/descriptors";
import { TYPES } from "../../model/testing";
import { categoryWord, groupsOf, onRecent, recentText, remember } from "./offers";
import { de } from "./words/de";

const [one] = TYPES.offered();
const typeOf = (typeName: string, category: string): ActivityType => ({
  ...(one as ActivityType),
  typeName,
  displayName: typeName,
  category,
});

beforeEach(() => {
  vi.stubGlobal("localStorage", { getItem: () => null, setItem: () => undefined });
});

describe("the palette", () => {
  it("has the categories of the server in their order", () => {
    const types = [typeOf("C", "Cards"), typeOf("H", "HTTP"), typeOf("B", "Branching")];
    expect(groupsOf(types, "").map(({ name }) => name)).toEqual(["Branching", "HTTP", "Cards"]);
  });

  it("has them in the language of the page, except those of workers", () => {
    expect(categoryWord("Branching", de.categories)).toBe("Verzweigung");
    expect(categoryWord("HTTP", de.categories)).toBe("HTTP");
    expect(categoryWord("Cards", de.categories)).toBe("Cards");
    expect(categoryWord("constructor", de.categories)).toBe("constructor");
  });

  it("hears of an activity that has become recent elsewhere", () => {
    let kept: string | null = null;
    vi.stubGlobal("localStorage", {
      getItem: () => kept,
      setItem: (_: string, text: string) => {
        kept = text;
      },
    });
    const heard: string[] = [];
    const forget = onRecent(() => heard.push(recentText()));
    remember("Acme.Charge");
    remember("Acme.Refund");
    forget();
    remember("Elsa.If");
    expect(heard).toEqual(["Acme.Charge", "Acme.Refund Acme.Charge"]);
  });
});
