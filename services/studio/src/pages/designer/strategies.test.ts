import { expect, it } from "vitest";
import { strategyWord } from "./strategies";
import { de } from "./words/de";

it.each([
  [
    "Elsa.Workflows.Runtime.ActivationValidators.SingletonStrategy, Elsa.Workflows.Runtime",
    "Singleton",
    "Eine dieser Definition",
  ],
  [
    "Elsa.Workflows.ActivationValidators.AllowAlwaysStrategy, Elsa.Workflows.Core",
    "Always",
    "Beliebig viele",
  ],
  ["FaultStrategy", "Fault", "Die Instanz endet gestört"],
  ["Acme.OddStrategy, Acme", "Odd one", "Odd one"],
])("%s has a German name, or that of the server", (typeName, name, word) =>
  expect(strategyWord(typeName, name, de.strategies)).toBe(word),
);
