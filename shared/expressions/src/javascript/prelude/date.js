// The clock is the turn's, and the local time zone is UTC wherever the script runs.
(function (now) {
  "use strict";
  const Native = Date;
  const proto = Native.prototype;
  const put = (name, value) =>
    Object.defineProperty(proto, name, { value, writable: true, configurable: true });
  for (const part of ["Date", "Day", "FullYear", "Hours", "Milliseconds", "Minutes", "Month", "Seconds"]) {
    put("get" + part, proto["getUTC" + part]);
    if (part !== "Day") put("set" + part, proto["setUTC" + part]);
  }
  put("getTimezoneOffset", function () {
    return 0 * proto.getTime.call(this);
  });
  const two = (number) => String(number).padStart(2, "0");
  const text = (make) =>
    function () {
      return isNaN(proto.getTime.call(this)) ? "Invalid Date" : make(this, proto.toUTCString.call(this));
    };
  // "Sat, 21 Nov 2026 09:00:00 GMT"
  const day = (date, utc) => `${utc.slice(0, 3)} ${utc.slice(8, 11)} ${utc.slice(5, 7)} ${utc.slice(12, -13)}`;
  const time = (date, utc) => `${utc.slice(-12, -4)} GMT+0000 (UTC)`;
  const localDay = (date) => `${date.getUTCMonth() + 1}/${date.getUTCDate()}/${date.getUTCFullYear()}`;
  const localTime = (date) => {
    const hours = date.getUTCHours();
    return `${hours % 12 || 12}:${two(date.getUTCMinutes())}:${two(date.getUTCSeconds())} ${hours < 12 ? "AM" : "PM"}`;
  };
  put("toDateString", text(day));
  put("toTimeString", text(time));
  put("toString", text((date, utc) => `${day(date, utc)} ${time(date, utc)}`));
  put("toLocaleDateString", text(localDay));
  put("toLocaleTimeString", text(localTime));
  put("toLocaleString", text((date) => `${localDay(date)}, ${localTime(date)}`));

  const zoned = /(?:Z|[+-]\d\d:?\d\d|GMT|UTC|UT)\s*(?:\(.*\))?\s*$/i;
  const dateOnly = /^\s*[+-]?\d{4,6}(?:-\d\d(?:-\d\d)?)?\s*$/;
  const parse = (value) => {
    if (zoned.test(value) || dateOnly.test(value)) return Native.parse(value);
    return Native.parse(value + (/\dT\d/.test(value) ? "Z" : " UTC"));
  };
  const one = (value) => {
    if (value instanceof Native) return proto.getTime.call(value);
    const plain = typeof value === "object" && value !== null ? value.valueOf() : value;
    return typeof plain === "string" ? parse(plain) : Number(plain);
  };
  function Clocked(...parts) {
    if (new.target === undefined) return new Clocked().toString();
    const time = parts.length === 0 ? now : parts.length === 1 ? one(parts[0]) : Native.UTC(...parts);
    return Reflect.construct(Native, [time], new.target);
  }
  Clocked.prototype = proto;
  Clocked.now = () => now;
  Clocked.UTC = Native.UTC;
  Clocked.parse = (value) => parse(String(value));
  put("constructor", Clocked);
  Object.defineProperty(globalThis, "Date", { value: Clocked, writable: true, configurable: true });
});
