import type { FileKind } from "./files.ts";
import { findLeftover, isOfOthers, type Retention } from "./leftovers.ts";
import type { What } from "./matcher.ts";
import type { FoundRow } from "./scan.ts";
import { statisticsTable } from "./tables.ts";

/** A first and a last name in one row are `name`. */
export type Found = What | "name";
export type Verdict = "expected" | "shared" | "unexpected";

export type Finding = {
  /** `database`, or the path of a file. */
  source: string;
  /** `table.column`; null in a text without columns. */
  place: string | null;
  what: Found;
  /** Rows of a table, or lines of a text. */
  rows: number;
  /** The first lines of a text. */
  lines: number[];
  verdict: Verdict;
  why: string;
  until: Date | null;
};

type Gathered = Omit<Finding, "verdict" | "why" | "until"> & {
  kind: "database" | FileKind;
  table: string | null;
  /** Whether the rows are about schools or apps. */
  isWord: boolean;
  why: string | null;
  until: Date | null;
  isLate: boolean;
};

type Facts = {
  now: Date;
  deletedAt: Date | null;
  retention: Retention;
  backupDays: number | undefined;
  logDays: number | undefined;
};

const linesShown = 5;
const dayMs = 86_400_000;
const names: readonly Found[] = ["firstName", "lastName", "name"];

export const foundTexts: Readonly<Record<Found, string>> = {
  id: "id",
  userName: "user name",
  userNameHash: "hash of the user name",
  other: "other identifier",
  name: "first and last name",
  firstName: "first name",
  lastName: "last name",
};

const later = (one: Date | null, other: Date | null): Date | null =>
  one === null || other === null ? (one ?? other) : one > other ? one : other;

/** Gathers what was found in rows, and then says of each place why it may be there. */
export function makeFindings({ now, deletedAt, retention, backupDays, logDays }: Facts) {
  const gathered = new Map<string, Gathered>();
  /** How many other people have the name: whoever is stored is not the person. */
  const others: Record<string, number> = { firstName: 0, lastName: 0, name: 0 };
  const holdingPerson = new Set<string>();
  const changedAt = new Map<string, Date>();

  function add(row: FoundRow, source: string, kind: Gathered["kind"]): void {
    const { section, line, read } = row;
    const all = new Set([...row.found.values()].flatMap((found) => [...found]));
    const isWhole = all.has("firstName") && all.has("lastName");
    const table = section?.table ?? null;
    if (table === "person" && kind === "database")
      for (const what of names) if (what === "name" ? isWhole : all.has(what)) others[what]!++;
    if (table === "person" && kind === "dump" && row.found.get("id")?.has("id")) holdingPerson.add(source);
    for (const [column, found] of row.found) {
      const whats = new Set([...found].map((what) => (isWhole && names.includes(what) ? "name" : what)));
      for (const what of whats) {
        const place = placeOf(table, column, read);
        const isWord = table !== null && isOfOthers(table, read);
        const key = JSON.stringify([source, place, what, isWord]);
        const one = gathered.get(key) ?? {
          source,
          kind,
          table,
          place,
          what,
          rows: 0,
          lines: [],
          isWord,
          why: null,
          until: null,
          isLate: false,
        };
        gathered.set(key, one);
        one.rows++;
        if (table === null && one.lines.length < linesShown) one.lines.push(line);
        const leftover = table === null ? undefined : findLeftover(table, column, what === "name" ? "lastName" : what);
        if (leftover === undefined) continue;
        const until = leftover.until?.(read, retention) ?? null;
        one.why = leftover.why;
        one.until = later(one.until, until);
        // A sweep runs each hour.
        one.isLate ||= until !== null && now.getTime() - until.getTime() > dayMs;
      }
    }
  }

  function judge(one: Gathered): Pick<Finding, "verdict" | "why" | "until"> {
    const { kind, table, source, place, what, until } = one;
    const kept = (days: number | undefined, from: Date | null, why: string, flag: string) => {
      if (days === undefined || from === null)
        return {
          verdict: "unexpected" as const,
          why: `${why}: how long you keep it was not said (${flag})`,
          until: null,
        };
      const end = new Date(from.getTime() + days * dayMs);
      return { verdict: now <= end ? ("expected" as const) : ("unexpected" as const), why, until: end };
    };
    if (kind === "dump" && holdingPerson.has(source))
      return kept(backupDays, deletedAt, "the dump was made before the deletion", "--backup-days");
    if (one.why !== null)
      return one.isLate
        ? { verdict: "unexpected", why: `${one.why}: a job should have deleted it by now`, until }
        : { verdict: "expected", why: one.why, until };
    if (table === statisticsTable)
      return {
        verdict: "expected",
        why: "a sample by which PostgreSQL plans queries, until it next analyzes the table; ANALYZE replaces it",
        until: null,
      };
    const shared = names.includes(what) ? (others[what] ?? 0) : 0;
    if (shared > 0)
      return {
        verdict: "shared",
        why: `${shared === 1 ? "1 other person has" : `${shared} other people have`} this ${foundTexts[what]}`,
        until: null,
      };
    if (what !== "name" && names.includes(what) && one.isWord)
      return {
        verdict: "shared",
        why: "a word in the name, address or text of a school, an app or another account",
        until: null,
      };
    // The person has no login any more, and nobody else had the same user name.
    if (what === "userName" && place === "credential.username")
      return { verdict: "shared", why: "a part of the user name of another person", until: null };
    if (kind === "log" && what === "id")
      return kept(logDays, changedAt.get(source) ?? null, "logs name requests by the ids in them", "--log-days");
    return { verdict: "unexpected", why: "nothing should hold it", until: null };
  }

  return {
    add,
    /** When a log was last written to. */
    noteChanged: (source: string, at: Date) => void changedAt.set(source, at),
    holdsPerson: (source: string) => holdingPerson.has(source),
    end: (): Finding[] =>
      [...gathered.values()]
        .map((one) => {
          const { source, place, what, rows, lines } = one;
          return { source, place, what, rows, lines, ...judge(one) };
        })
        .sort((one, other) => rankOf(one) - rankOf(other)),
  };
}

function placeOf(table: string | null, column: string, read: FoundRow["read"]): string | null {
  if (table === null) return null;
  if (table !== statisticsTable) return `${table}.${column}`;
  return `${statisticsTable} of ${read("tablename") ?? ""}.${read("attname") ?? ""}`;
}

const order: readonly Verdict[] = ["unexpected", "shared", "expected"];
const rankOf = ({ verdict }: Finding): number => order.indexOf(verdict);
