// Code that is made from a text could use functions of ours that were not put into the context. It is
// refused unless the script names `Function` or `eval`: then it gets all of them.
(function (refuse) {
  "use strict";
  const { defineProperty, getPrototypeOf } = Object;
  const kinds = [function () {}, function* () {}, async function () {}, async function* () {}];
  for (let at = 0; at < kinds.length; at++) {
    defineProperty(getPrototypeOf(kinds[at]), "constructor", { __proto__: null, value: refuse });
  }
});
