// .NET's Guid and Random. A Guid is represented by its text.
(function (newGuid, parseGuid) {
  "use strict";
  const define = (name, value) =>
    Object.defineProperty(globalThis, name, { value, writable: true, configurable: true });
  define("Guid", {
    NewGuid: newGuid,
    Parse: parseGuid,
    Empty: "00000000-0000-0000-0000-000000000000",
  });
  define("Random", class Random {
    Next(low, high) {
      if (high === undefined) [low, high] = [0, low ?? 2147483647];
      return low + Math.floor(Math.random() * (high - low));
    }
    NextDouble() {
      return Math.random();
    }
  });
});
