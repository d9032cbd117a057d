// The parts of .NET's DateTime and DateTimeOffset that workflows use. All times are UTC.
(function (now) {
  "use strict";
  const { TimeSpan } = globalThis;
  const SECOND = 1000, MINUTE = 60 * SECOND, HOUR = 60 * MINUTE, DAY = 24 * HOUR;

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

  for (const [name, value] of Object.entries({ DateTime, DateTimeOffset })) {
    Object.defineProperty(globalThis, name, { value, writable: true, configurable: true });
  }
});
