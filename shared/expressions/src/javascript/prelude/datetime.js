// The parts of .NET's DateTime, DateTimeOffset and TimeSpan that workflows use. All times are UTC.
(function (now) {
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

  let make;
  class DateTime {
    #date;
    constructor(year = 1, month = 1, day = 1, hour = 0, minute = 0, second = 0, ms = 0) {
      this.#date = new Date(0);
      this.#date.setUTCFullYear(year, month - 1, day);
      this.#date.setUTCHours(hour, minute, second, ms);
    }
    static {
      make = (type, ms) => {
        const made = new type();
        made.#date = new Date(ms);
        return made;
      };
    }
    static get Now() { return make(this, now); }
    static get UtcNow() { return make(this, now); }
    static get Today() { return make(this, Math.floor(now / DAY) * DAY); }
    static Parse(text) {
      const ms = Date.parse(text);
      if (isNaN(ms)) throw new TypeError(`${JSON.stringify(text)} is not a date and time such as 2026-01-31T08:00:00Z`);
      return make(this, ms);
    }
    static FromUnixTimeSeconds(n) { return make(this, n * SECOND); }
    static FromUnixTimeMilliseconds(n) { return make(this, n); }
    #plus(ms) { return make(this.constructor, this.getTime() + ms); }
    #months(count) {
      const moved = new Date(this.getTime()), day = moved.getUTCDate();
      moved.setUTCDate(1);
      moved.setUTCMonth(moved.getUTCMonth() + count);
      const last = new Date(Date.UTC(moved.getUTCFullYear(), moved.getUTCMonth() + 1, 0)).getUTCDate();
      moved.setUTCDate(Math.min(day, last));
      return make(this.constructor, moved.getTime());
    }
    get Year() { return this.#date.getUTCFullYear(); }
    get Month() { return this.#date.getUTCMonth() + 1; }
    get Day() { return this.#date.getUTCDate(); }
    get Hour() { return this.#date.getUTCHours(); }
    get Minute() { return this.#date.getUTCMinutes(); }
    get Second() { return this.#date.getUTCSeconds(); }
    get Millisecond() { return this.#date.getUTCMilliseconds(); }
    get DayOfWeek() { return this.#date.getUTCDay(); }
    get Date() { return make(this.constructor, Math.floor(this.getTime() / DAY) * DAY); }
    get TimeOfDay() { return TimeSpan.FromMilliseconds(((this.getTime() % DAY) + DAY) % DAY); }
    Add(span) { return this.#plus(span.TotalMilliseconds); }
    AddMilliseconds(n) { return this.#plus(n); }
    AddSeconds(n) { return this.#plus(n * SECOND); }
    AddMinutes(n) { return this.#plus(n * MINUTE); }
    AddHours(n) { return this.#plus(n * HOUR); }
    AddDays(n) { return this.#plus(n * DAY); }
    AddMonths(n) { return this.#months(n); }
    AddYears(n) { return this.#months(12 * n); }
    Subtract(other) {
      return other instanceof DateTime
        ? TimeSpan.FromMilliseconds(this.getTime() - other.getTime())
        : this.#plus(-other.TotalMilliseconds);
    }
    CompareTo(other) { return Math.sign(this.getTime() - other.getTime()); }
    ToUniversalTime() { return this; }
    ToUnixTimeSeconds() { return Math.floor(this.getTime() / SECOND); }
    ToUnixTimeMilliseconds() { return this.getTime(); }
    getTime() { return this.#date.getTime(); }
    valueOf() { return this.getTime(); }
    toString() { return this.#date.toISOString(); }
    ToString() { return this.toString(); }
    toJSON() { return this.toString(); }
  }
  class DateTimeOffset extends DateTime {}

  for (const [name, value] of Object.entries({ TimeSpan, DateTime, DateTimeOffset })) {
    Object.defineProperty(globalThis, name, { value, writable: true, configurable: true });
  }
});
