import { createHash } from "node:crypto";

/**
 * How large a world is.
 *
 * Shape: people from 100; the same size, seed and `until` make the same rows, except for secrets, endpoints' audit
 *        lines, and hashes of user names, whose key every database makes for itself.
 * Units: `until` is the end of the year whose sign-ins and changes the world has; signIns counts a person's in it.
 */
export type WorldSize = { people: number; seed: number; until: Date; signIns: number };

/** One statement that fills a table. */
export type Fill = { table: string; sql: string; values?: unknown[] };

export const dayMs = 86_400_000;
export const appCount = 50;
export const groupsPerSchool = 40;
export const classesPerSchool = 24;
export const appsPerSchool = 10;
export const appSecret = "bench-secret";
export const password = "bench-password";

export type Shape = ReturnType<typeof makeShape>;

/**
 * The numbers of a world and the SQL that computes ids, choices and times from a running number, so that statements
 * name rows of other tables without reading them.
 */
export function makeShape({ people, seed, until, signIns }: WorldSize) {
  const schools = Math.max(2, Math.round(people / 1000));
  // A multiple of ten, so that the last digit of a person's number is also that of their place in the school.
  const perSchool = Math.ceil(people / schools / 10) * 10;
  const untilMs = until.getTime();
  const madeMs = untilMs - 400 * dayMs;

  const uuidAt = (ms: string, kind: string, n: string): string =>
    `overlay(overlay(overlay(md5('${seed} ${kind} ' || (${n})) PLACING lpad(to_hex((${ms})::bigint), 12, '0') FROM 1 FOR 12)
      PLACING '7' FROM 13 FOR 1) PLACING '8' FROM 17 FOR 1)::uuid`;
  const salt = (what: string): string =>
    String(createHash("sha256").update(`${seed} ${what}`).digest().readUIntBE(0, 6));

  return {
    people,
    schools,
    perSchool,
    signIns,
    until,
    untilMs,
    made: `timestamptz '${new Date(madeMs).toISOString()}'`,
    now: `timestamptz '${until.toISOString()}'`,
    uuidAt,
    /** The id of the n-th of a kind. */
    uuid: (kind: string, n: string): string => uuidAt(`${madeMs} + (${n})`, kind, n),
    /** A choice from 0 to `below` - 1 that looks like chance. */
    pick: (n: string, what: string, below: number): string =>
      `abs(hashint8extended((${n})::bigint, ${salt(what)}) % ${below})`,
    hash: (what: string, n: string): string => `sha256(convert_to('${seed} ${what} ' || (${n}), 'UTF8'))`,
    /** Milliseconds of the n-th of `count` moments that are spread evenly over the last days. */
    msOf: (n: string, count: number, days: number): string =>
      `(${untilMs - days * dayMs} + (${n})::bigint * ${days * dayMs} / ${count})`,
    timeOf: (ms: string): string => `to_timestamp((${ms}) / 1000.0)`,
    schoolOf: (n: string): string => `((${n}) / ${perSchool})`,
    /** The j-th app that school s gave a grant: three have all schools, the others some. */
    appOf: (s: string, j: string): string =>
      `'app-' || lpad((CASE WHEN (${j}) < 3 THEN (${j}) ELSE 3 + ((${s}) * 7 + ((${j}) - 3) * 6) % ${appCount - 3} END)::text, 2, '0')`,
    groupOf: (s: string, index: string): string => `(${s}) * ${groupsPerSchool} + (${index})`,
    /** Of ten people seven sign in. */
    signsIn: (n: string): string => `(${n}) % 10 < 7`,
    isTeacher: (n: string): string => `(${n}) % ${perSchool} % 13 = 0`,
    isGone: (n: string): string => `(${n}) % ${perSchool} % 100 = 99`,
    hasSecondSchool: (n: string): string => `(${n}) % ${perSchool} % 50 = 13`,
    secondSchool: (n: string): string => `((${n}) / ${perSchool} + 1) % ${schools}`,
  };
}
