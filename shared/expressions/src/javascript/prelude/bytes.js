// Bytes are Uint8Arrays in a script and base64 text in JSON.
(function (toBase64, fromBase64, toText, fromText) {
  "use strict";
  const define = (name, value) =>
    Object.defineProperty(globalThis, name, { value, writable: true, configurable: true });
  const bytes = (value) => (typeof value === "string" ? fromBase64(value) : value);
  const list = (value) => Array.from(bytes(value));
  Object.defineProperty(Uint8Array.prototype, "toJSON", {
    value() {
      return toBase64(Array.from(this));
    },
    writable: true,
    configurable: true,
  });
  define("bytesToString", (value) => toText(list(value)));
  define("bytesFromString", (text) => fromText(String(text)));
  define("bytesToBase64", (value) => toBase64(list(value)));
  define("bytesFromBase64", (text) => fromBase64(String(text)));
  define("streamToBytes", bytes);
  define("streamToBase64", (value) => toBase64(list(value)));
});
