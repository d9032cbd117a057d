// Code that is made of a text could use functions of ours that were not put into the context. It is
// refused where the script does not name `Function` or `eval`, by which it would get them all.
(function (refuse) {
  "use strict";
  const { defineProperty, getPrototypeOf } = Object;
  const kinds = [function () {}, function* () {}, async function () {}, async function* () {}];
  for (let at = 0; at < kinds.length; at++) {
    defineProperty(getPrototypeOf(kinds[at]), "constructor", { __proto__: null, value: refuse });
  }
});
