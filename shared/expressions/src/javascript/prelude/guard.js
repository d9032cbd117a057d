// QuickJS looks at its clock between steps of a script, but not inside these functions, so what
// they would have to do is measured beforehand.
(function (walkers, searches, elements, comparisons) {
  "use strict";
  const apply = Reflect.apply;
  const wrap = (proto, name, check) => {
    const original = proto[name];
    if (typeof original !== "function") return;
    const guarded = function (...args) {
      check(this, args, name);
      return apply(original, this, args);
    };
    Object.defineProperty(proto, name, { value: guarded, writable: true, configurable: true });
  };
  const isLong = (value) => value !== null && value !== undefined && value.length > elements;
  const list = (self, args, name) => {
    if (isLong(self) || args.some((arg) => Array.isArray(arg) && isLong(arg))) {
      throw new RangeError(`${name}: more than ${elements} elements`);
    }
  };
  for (const name of walkers) {
    wrap(Array.prototype, name, list);
  }
  const search = (self, args, name) => {
    if (typeof args[0] === "string" && String(self).length * args[0].length > comparisons) {
      throw new RangeError(`${name}: the texts are too long to compare`);
    }
  };
  for (const name of searches) {
    wrap(String.prototype, name, search);
  }
});
