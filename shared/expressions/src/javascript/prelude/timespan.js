// The parts of .NET's TimeSpan that workflows use.
(function () {
  "use strict";
  const SECOND = 1000, MINUTE = 60 * SECOND, HOUR = 60 * MINUTE, DAY = 24 * HOUR;
  const two = (number) => String(number).padStart(2, "0");

  class TimeSpan {
    #ms;
    constructor(...parts) {
      const [days, hours, minutes, seconds, ms] =
        parts.length === 3 ? [0, ...parts, 0] : [0, 1, 2, 3, 4].map((at) => parts[at] ?? 0);
      // A single argument counts ticks of 100 ns.
      this.#ms = parts.length === 1
        ? parts[0] / 10000
        : days * DAY + hours * HOUR + minutes * MINUTE + seconds * SECOND + ms;
    }
    static #of(ms) { return new TimeSpan(ms * 10000); }
    static FromMilliseconds(n) { return TimeSpan.#of(n); }
    static FromSeconds(n) { return TimeSpan.#of(n * SECOND); }
    static FromMinutes(n) { return TimeSpan.#of(n * MINUTE); }
    static FromHours(n) { return TimeSpan.#of(n * HOUR); }
    static FromDays(n) { return TimeSpan.#of(n * DAY); }
    static get Zero() { return TimeSpan.#of(0); }
    static Parse(text) {
      const found = /^\s*(-)?(?:(\d+)\.)?(\d{1,2}):(\d{1,2})(?::(\d{1,2})(?:\.(\d{1,7}))?)?\s*$/.exec(text);
      if (!found) throw new TypeError(`${JSON.stringify(text)} is not a time span such as 1.02:03:04`);
      const [, minus, days = 0, hours, minutes, seconds = 0, fraction = "0"] = found;
      const ms = days * DAY + hours * HOUR + minutes * MINUTE + seconds * SECOND + Number("0." + fraction) * SECOND;
      return TimeSpan.#of(minus ? -ms : ms);
    }
    get Days() { return Math.trunc(this.#ms / DAY); }
    get Hours() { return Math.trunc(this.#ms / HOUR) % 24; }
    get Minutes() { return Math.trunc(this.#ms / MINUTE) % 60; }
    get Seconds() { return Math.trunc(this.#ms / SECOND) % 60; }
    get Milliseconds() { return Math.trunc(this.#ms) % 1000; }
    get Ticks() { return Math.round(this.#ms * 10000); }
    get TotalDays() { return this.#ms / DAY; }
    get TotalHours() { return this.#ms / HOUR; }
    get TotalMinutes() { return this.#ms / MINUTE; }
    get TotalSeconds() { return this.#ms / SECOND; }
    get TotalMilliseconds() { return this.#ms; }
    Add(other) { return TimeSpan.#of(this.#ms + other.TotalMilliseconds); }
    Subtract(other) { return TimeSpan.#of(this.#ms - other.TotalMilliseconds); }
    Multiply(factor) { return TimeSpan.#of(this.#ms * factor); }
    Negate() { return TimeSpan.#of(-this.#ms); }
    valueOf() { return this.#ms; }
    toString() {
      const ms = Math.abs(this.#ms), days = Math.floor(ms / DAY), ticks = Math.round((ms % SECOND) * 10000);
      const clock = [Math.floor(ms / HOUR) % 24, Math.floor(ms / MINUTE) % 60, Math.floor(ms / SECOND) % 60];
      const fraction = ticks ? "." + String(ticks).padStart(7, "0") : "";
      return `${this.#ms < 0 ? "-" : ""}${days ? days + "." : ""}${clock.map(two).join(":")}${fraction}`;
    }
    ToString() { return this.toString(); }
    toJSON() { return this.toString(); }
  }

  Object.defineProperty(globalThis, "TimeSpan", { value: TimeSpan, writable: true, configurable: true });
});
