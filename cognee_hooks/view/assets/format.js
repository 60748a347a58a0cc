// Numbers, sizes and times as people read them. What is unknown is a dash.
//
// The page speaks English, so its numbers and dates do, too: in another language's form "1.234"
// would be read as a fraction. Dates are written so that no two countries read them differently.

const LANGUAGE = "en-GB";
const UNKNOWN = "–";
const MINUTE = 60;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;
const SOON = 45;

const whole = new Intl.NumberFormat(LANGUAGE);
const short = new Intl.NumberFormat(LANGUAGE, { maximumFractionDigits: 1 });
const exact = new Intl.NumberFormat(LANGUAGE, { maximumSignificantDigits: 2 });
const share = new Intl.NumberFormat(LANGUAGE, { style: "percent" });
const relative = new Intl.RelativeTimeFormat(LANGUAGE, { numeric: "always", style: "short" });
const full = new Intl.DateTimeFormat(LANGUAGE, { dateStyle: "medium", timeStyle: "long" });
const clock = new Intl.DateTimeFormat(LANGUAGE, { timeStyle: "medium" });
const day = new Intl.DateTimeFormat(LANGUAGE, {
  weekday: "long",
  day: "numeric",
  month: "long",
  year: "numeric",
});

const isNumber = (value) => typeof value === "number" && Number.isFinite(value);

/** A count. */
export const count = (value) => (isNumber(value) ? whole.format(value) : UNKNOWN);

/** A share of one, in percent. */
export const percent = (value) => (isNumber(value) ? share.format(value) : UNKNOWN);

/** A size in bytes. */
export function size(bytes) {
  if (!isNumber(bytes)) return UNKNOWN;
  if (bytes < 1000) return `${whole.format(bytes)} B`;
  if (bytes < 1e6) return `${short.format(bytes / 1000)} kB`;
  return `${short.format(bytes / 1e6)} MB`;
}

/** Seconds as milliseconds, as exact as they are of use. */
export function milliseconds(seconds) {
  if (!isNumber(seconds)) return UNKNOWN;
  const value = seconds * 1000;
  return `${value < 10 ? exact.format(value) : whole.format(Math.round(value))} ms`;
}

/** A duration in the unit that suits it. */
export function duration(seconds) {
  if (!isNumber(seconds)) return UNKNOWN;
  return seconds < 1 ? milliseconds(seconds) : `${short.format(seconds)} s`;
}

/** A count with its noun; the plural is the singular with an "s" unless given. */
export const counted = (value, one, many = `${one}s`) =>
  `${count(value)} ${value === 1 ? one : many}`;

/** How long ago, or how soon, a moment is; both in epoch seconds. */
export function ago(time, now) {
  const seconds = time - now;
  const distance = Math.abs(seconds);
  if (distance < 5) return "now";
  if (distance < SOON) return relative.format(Math.round(seconds), "second");
  if (distance < HOUR) return relative.format(whole0(seconds / MINUTE), "minute");
  if (distance < DAY) return relative.format(whole0(seconds / HOUR), "hour");
  return relative.format(whole0(seconds / DAY), "day");
}

/** Rounded, but never to nothing. */
const whole0 = (value) => Math.round(value) || Math.sign(value);

/** A moment as a date, or null where no calendar has it. */
export function dateOf(time) {
  if (!isNumber(time) || time <= 0) return null;
  const date = new Date(time * 1000);
  return Number.isNaN(date.getTime()) ? null : date;
}

/** A date with its time, to the second. */
export const absolute = (date) => full.format(date);

/** The time of day of a date. */
export const timeOfDay = (date) => clock.format(date);

/** The day of a date, in words. */
export const dayOf = (date) => day.format(date);

/** An id in a length that tells it apart at a glance. */
export function shortened(id) {
  const found = /^([a-z-]+_)?([0-9a-f]{8})-[0-9a-f-]{20,}$/.exec(id);
  if (found) return `${found[1] ?? ""}${found[2]}`;
  return id.length > 32 ? `${id.slice(0, 31)}…` : id;
}
