// Variables, inputs and what is named after them. `links` holds [name, kind, key or value].
(function (variables, inputs, links) {
  "use strict";
  const read = (from, name) => (name in from ? from[name] : null);
  const define = (name, value) =>
    Object.defineProperty(globalThis, name, { value, writable: true, configurable: true });
  define("variables", variables);
  define("args", {});
  define("getVariable", (name) => read(variables, name));
  define("setVariable", (name, value) => {
    variables[name] = value;
  });
  define("getInput", (name) => read(inputs, name));
  for (const [name, kind, value] of links) {
    if (kind === "variable") define(name, () => read(variables, value));
    else if (kind === "set") define(name, (next) => void (variables[value] = next));
    else define(name, () => value);
  }
});
