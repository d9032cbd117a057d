// QuickJS checks the time between the steps of a script, but not inside these functions. The guard
// refuses arguments with which they would take long. It reads lengths in such a way that a script
// cannot change them between the check and the call. A script that gets past the guard is stopped at its deadline all the same.
(function (walkers, searches, elements, comparisons, isProxy) {
  "use strict";
  const { apply } = Reflect;
  const { defineProperty, getOwnPropertyDescriptor, getPrototypeOf } = Object;
  const { isArray } = Array;
  const isView = typeof ArrayBuffer === "function" ? ArrayBuffer.isView : () => false;
  const { isConcatSpreadable } = Symbol;
  const { trunc } = Math;
  const text = (value) => `${value}`;
  const number = Number, TooLong = RangeError, Unfit = TypeError;

  const uncertain = (name) => {
    throw new Unfit(`${name}: the length of a Proxy or a computed length may change; copy it to an array first`);
  };
  // The length of any value that array functions accept.
  const lengthOf = (value, name) => {
    if (typeof value === "string") return value.length;
    if (value === null || value === undefined) return 0;
    for (let at = Object(value); at !== null; at = getPrototypeOf(at)) {
      if (isProxy(at)) uncertain(name);
      const found = getOwnPropertyDescriptor(at, "length");
      if (found === undefined && isView(at)) return at.length;
      if (found === undefined) continue;
      if (!("value" in found) || typeof found.value === "object" || typeof found.value === "function") uncertain(name);
      return number(found.value);
    }
    return 0;
  };
  const checkLength = (value, name) => {
    if (lengthOf(value, name) > elements) throw new TooLong(`${name}: more than ${elements} elements`);
  };
  const wrap = (proto, name, make) => {
    const original = proto[name];
    if (typeof original !== "function") return;
    defineProperty(proto, name, {
      __proto__: null, value: make(original), writable: true, enumerable: false, configurable: true,
    });
  };

  const concat = (original) => function concat(...args) {
    checkLength(this, "concat");
    for (let at = -1; at < args.length; at++) {
      const one = at < 0 ? this : args[at];
      if (one === null || typeof one !== "object") continue;
      checkLength(one, "concat");
      if (isConcatSpreadable in one) uncertain("concat");
    }
    return apply(original, this, args);
  };
  // Loops of the script are interrupted, so these two walk in a loop.
  const flatten = (out, from, depth, name) => {
    checkLength(from, name);
    const length = lengthOf(from, name);
    for (let at = 0; at < length; at++) {
      if (!(at in from)) continue;
      const one = from[at];
      if (depth > 0 && isArray(one)) flatten(out, one, depth - 1, name);
      else defineProperty(out, out.length, { __proto__: null, value: one, writable: true, enumerable: true, configurable: true });
    }
    return out;
  };
  const flat = () => function flat(depth = 1) {
    return flatten([], this, trunc(depth) || 0, "flat");
  };
  const flatMap = () => function flatMap(make, self) {
    if (typeof make !== "function") throw new Unfit("not a function");
    checkLength(this, "flatMap");
    const length = lengthOf(this, "flatMap");
    const out = [];
    for (let at = 0; at < length; at++) {
      if (at in this) flatten(out, [apply(make, self, [this[at], at, this])], 1, "flatMap");
    }
    return out;
  };
  const own = { __proto__: null, concat, flat, flatMap };
  for (let at = 0; at < walkers.length; at++) {
    const name = walkers[at];
    wrap(Array.prototype, name, own[name] ?? ((original) => function (...args) {
      checkLength(this, name);
      return apply(original, this, args);
    }));
  }
  if (typeof Iterator === "function") {
    wrap(Iterator.prototype, "drop", (original) => function drop(count) {
      const exact = number(count);
      if (exact > elements) throw new TooLong(`drop: more than ${elements} elements`);
      return apply(original, this, [exact]);
    });
  }

  // Functions that hand an object with such a method over to that method.
  const protocols = {
    __proto__: null,
    includes: Symbol.match, replace: Symbol.replace, replaceAll: Symbol.replace, split: Symbol.split,
  };
  for (let at = 0; at < searches.length; at++) {
    const name = searches[at], protocol = protocols[name];
    wrap(String.prototype, name, (original) => function (...args) {
      if (this === null || this === undefined) return apply(original, this, args);
      const wanted = args[0];
      const isObject = wanted !== null && (typeof wanted === "object" || typeof wanted === "function");
      if (isObject && protocol !== undefined && wanted[protocol] !== undefined && wanted[protocol] !== null) {
        return apply(original, this, args);
      }
      const self = text(this);
      if (args.length > 0 && (name !== "split" && name !== "normalize" || wanted !== undefined)) {
        args[0] = text(wanted);
        if (self.length * args[0].length > comparisons) {
          throw new TooLong(`${name}: the texts are too long to compare`);
        }
      }
      if (name === "normalize" && self.length > elements / 10) {
        throw new TooLong(`normalize: more than ${elements / 10} characters`);
      }
      return apply(original, self, args);
    });
  }
});
