import { expect, it } from "vitest";
import { digitsOf } from "./typed";

it.each([
  ["1620", "en", "1620"],
  [" 1,620 ", "en", "1620"],
  ["1,234,567", "en", "1234567"],
  ["1.620", "de", "1620"],
  ["1\u202f620", "fr", "1620"],
  ["1 620", "fr", "1620"],
])("%j in %s is the number %s", (text, language, digits) => expect(digitsOf(text, language)).toBe(digits));

it.each([
  ["1.620", "en"],
  ["1,620", "de"],
  ["16,20", "en"],
  ["1,62,0", "en"],
  ["all", "en"],
])("%j in %s is no such number", (text, language) => expect(digitsOf(text, language)).toBe(text));
