import type { FileKind } from "./files.ts";
import { findLeftover, isOfOthers, type Retention } from "./leftovers.ts";
import type { What } from "./matcher.ts";
import type { FoundRow } from "./scan.ts";
import { statisticsTable } from "./tables.ts";

/** A first and a last name in one row are `name`. */
export type MatchKind = What | "name";
export type Verdict = "expected" | "shared" | "unexpected";

export type Finding = {
  /** `database`, or the path of a file. */
  source: string;
  /** `table.column`; null in a text without columns. */
  place: string | null;
  what: MatchKind;
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

type Judgement = Pick<Finding, "verdict" | "why" | "until">;

type Facts = {
  now: Date;
  deletedAt: Date | null;
  retention: Retention;
  backupDays: number | undefined;
  logDays: number | undefined;
};

const linesShown = 5;
const dayMs = 86_400_000;
const names: readonly MatchKind[] = ["firstName", "lastName", "name"];

export const foundTexts: Readonly<Record<MatchKind, string>> = {
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

/** Counts the findings of each place, and then says for each why it may be there. */
export function makeFindings({ now, deletedAt, retention, backupDays, logDays }: Facts) {
  const gathered = new Map<string, Gathered>();
  /** How many people have the name: everybody who is stored is another person. */
  const others: Record<string, number> = { firstName: 0, lastName: 0, name: 0 };
  const holdingPerson = new Set<string>();
  const changedAt = new Map<string, Date>();

  function add(row: FoundRow, source: string, kind: Gathered["kind"]): void {
    const { section, line, read } = row;
    const all = new Set([...row.matches.values()].flatMap((matches) => [...matches]));
    const isWhole = all.has("firstName") && all.has("lastName");
    const table = section?.table ?? null;
    if (table === "person" && kind === "database")
      for (const what of names) if (what === "name" ? isWhole : all.has(what)) others[what]!++;
    if (table === "person" && kind === "dump" && row.matches.get("id")?.has("id")) holdingPerson.add(source);
    for (const [column, matches] of row.matches) {
      const whats = new Set([...matches].map((what) => (isWhole && names.includes(what) ? "name" : what)));
      for (const what of whats) {
        const place = placeOf(table, column, read);
        const isWord = table !== null && isOfOthers(table, read);
        const key = JSON.stringify([source, place, what, isWord]);
        const nothing = { rows: 0, lines: [], why: null, until: null, isLate: false };
        const one: Gathered = gathered.get(key) ?? { source, kind, table, place, what, isWord, ...nothing };
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

  function judge(gathering: Gathered): Judgement {
    const { kind, table, source, place, what, until } = gathering;
    if (kind === "dump" && holdingPerson.has(source))
      return judgeCopy("the dump was made before the deletion", deletedAt, { days: backupDays, flag: "--backup-days" });
    if (gathering.why !== null)
      return gathering.isLate
        ? { verdict: "unexpected", why: `${gathering.why}: a job should have deleted it by now`, until }
        : { verdict: "expected", why: gathering.why, until };
    if (table === statisticsTable)
      return {
        verdict: "expected",
        why: "a sample by which PostgreSQL plans queries, until it next analyzes the table; ANALYZE replaces it",
        until: null,
      };
    const shared = names.includes(what) ? (others[what] ?? 0) : 0;
    if (shared > 0) {
      const holders = shared === 1 ? "1 other person has" : `${shared} other people have`;
      return { verdict: "shared", why: `${holders} this ${foundTexts[what]}`, until: null };
    }
    if (what !== "name" && names.includes(what) && gathering.isWord) {
      const why = "a word in the name, address or text of a school, an app or another account";
      return { verdict: "shared", why, until: null };
    }
    // The person has no login any more, and nobody else had the same user name.
    if (what === "userName" && place === "credential.username")
      return { verdict: "shared", why: "a part of the user name of another person", until: null };
    if (kind === "log" && what === "id") {
      const writtenAt = changedAt.get(source) ?? null;
      return judgeCopy("logs name requests by the ids in them", writtenAt, { days: logDays, flag: "--log-days" });
    }
    return { verdict: "unexpected", why: "nothing should hold it", until: null };
  }

  /** Judges a copy that the operator keeps for some days from a time. */
  function judgeCopy(why: string, from: Date | null, keeping: { days: number | undefined; flag: string }): Judgement {
    const { days, flag } = keeping;
    if (days === undefined || from === null)
      return { verdict: "unexpected", why: `${why}: how long you keep it was not said (${flag})`, until: null };
    const until = new Date(from.getTime() + days * dayMs);
    return { verdict: now <= until ? "expected" : "unexpected", why, until };
  }

  return {
    add,
    /** When a log was last written to. */
    noteChanged: (source: string, at: Date) => void changedAt.set(source, at),
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
