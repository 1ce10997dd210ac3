import type { IncomingMessage } from "node:http";
import type { Locale } from "../../platform/pages/index.ts";

// Used until the browser has reported its own.
const zoneOfSchools = "Europe/Berlin";

/** The reader's time zone, which a script stores in a cookie. */
export function readZone(req: IncomingMessage): string {
  const cookieZone = /(?:^|; *)_zone=([A-Za-z0-9_+/%-]{1,64})(?:;|$)/.exec(req.headers.cookie ?? "")?.[1];
  if (cookieZone === undefined) return zoneOfSchools;
  const zone = cookieZone.replaceAll("%2F", "/");
  return isZone(zone) ? zone : zoneOfSchools;
}

const knownZones = new Set(Intl.supportedValuesOf("timeZone"));

function isZone(zone: string): boolean {
  if (knownZones.has(zone)) return true;
  try {
    new Intl.DateTimeFormat("en", { timeZone: zone });
    return true;
  } catch {
    return false;
  }
}

export type Times = {
  /** Formats an ISO 8601 time with day and minute; "" for null. */
  time(at: string | null | undefined): string;
  day(at: string | null | undefined): string;
  /** The day as a date field of a form takes it, such as `2026-02-03`. */
  dayField(at: string | null | undefined): string;
  /** The start of a day such as `2026-02-03` as ISO 8601; null for an invalid day. */
  startOf(day: string, daysLater?: number): string | null;
};

/** Cached, because creating a format takes longer than rendering a page. */
export function makeTimes(locale: Locale, timeZone: string): Times {
  const key = `${locale} ${timeZone}`;
  const held = madeTimes.get(key) ?? formatTimes(locale, timeZone);
  // Bounded, because zones have many spellings.
  if (madeTimes.size < mostTimes) madeTimes.set(key, held);
  return held;
}

const madeTimes = new Map<string, Times>();
const mostTimes = 100;

function formatTimes(locale: Locale, timeZone: string): Times {
  const write = (options: Intl.DateTimeFormatOptions, language: string = locale) => {
    const format = new Intl.DateTimeFormat(language, { timeZone, ...options });
    return (at: string | null | undefined) => (at ? format.format(new Date(at)) : "");
  };
  return {
    time: write({ dateStyle: "medium", timeStyle: "short" }),
    day: write({ dateStyle: "medium" }),
    dayField: write({ dateStyle: "short" }, "sv"),
    startOf: startIn(timeZone),
  };
}

const dayInMs = 86_400_000;

function startIn(timeZone: string): Times["startOf"] {
  const format = new Intl.DateTimeFormat("sv", { timeZone, dateStyle: "short", timeStyle: "medium" });
  const clockAt = (at: number) => Date.parse(`${format.format(new Date(at)).replace(" ", "T")}Z`);
  return (day, daysLater = 0) => {
    const midnight = /^\d{4}-\d{2}-\d{2}$/.test(day) ? Date.parse(`${day}T00:00:00Z`) : NaN;
    if (Number.isNaN(midnight)) return null;
    const wanted = midnight + daysLater * dayInMs;
    const near = wanted - (clockAt(wanted) - wanted);
    return new Date(near - (clockAt(near) - wanted)).toISOString();
  };
}
