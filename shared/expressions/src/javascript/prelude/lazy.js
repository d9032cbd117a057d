// Variables that the script reads on first use.
(function (variables, names, read) {
  "use strict";
  const { defineProperty, getOwnPropertyDescriptor } = Object;
  const { ownKeys } = Reflect;
  const put = (object, name, value) =>
    defineProperty(object, name, { __proto__: null, value, writable: true, enumerable: true, configurable: true });
  const getters = { __proto__: null };
  const values = { __proto__: null };
  for (let at = 0; at < names.length; at++) {
    const name = names[at];
    const get = () => {
      if (!(name in values)) put(values, name, read(name));
      return values[name];
    };
    const set = function (value) {
      put(this, name, value);
    };
    getters[name] = get;
    defineProperty(variables, name, { __proto__: null, get, set, enumerable: true, configurable: true });
  }
  // The variables, without those that were neither read nor set.
  return () => {
    const touched = { __proto__: null };
    const keys = ownKeys(variables);
    for (let at = 0; at < keys.length; at++) {
      const name = keys[at];
      if (typeof name !== "string") continue;
      const { get, enumerable } = getOwnPropertyDescriptor(variables, name);
      const asleep = get !== undefined && get === getters[name] && !(name in values);
      if (enumerable && !asleep) put(touched, name, variables[name]);
    }
    return touched;
  };
});
