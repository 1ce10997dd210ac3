import { erasedDays } from "../../access/index.ts";
import { addDays } from "../../platform/clock.ts";
import type { What } from "./matcher.ts";

export type Retention = { auditDays: number; eventDays: number; deliveryDays: number; erasureDays: number };
type Read = (column: string) => string | null;

/** What the deletion of a person leaves in a table on purpose, or what other deadlines than the person's remove. */
type Leftover = {
  tables: readonly string[];
  /** All columns if left out. */
  columns?: readonly string[];
  /** All kinds of values if left out. */
  what?: readonly What[];
  why: string;
  /** When the row is deleted; left out: never. Null if the row does not say it. */
  until?: (read: Read, retention: Retention) => Date | null;
};

const timeOf = (text: string | null): Date | null =>
  text === null ? null : new Date(text.replace(" ", "T").replace(/(?<=:[\d.]+)([+-]\d\d)$/, "$1:00"));

const after =
  (column: string, days: number | ((retention: Retention) => number)): NonNullable<Leftover["until"]> =>
  (read, retention) => {
    const time = timeOf(read(column));
    return time === null ? null : addDays(time, typeof days === "number" ? days : days(retention));
  };

/** The time in a UUID of version 7. */
const timeOfId = (id: string | null): Date | null =>
  id === null ? null : new Date(Number.parseInt(id.replaceAll("-", "").slice(0, 12), 16));

const afterImport: Leftover["until"] = (read) => {
  const time = timeOfId(read("import_id"));
  return time === null ? null : addDays(time, 7);
};

const afterErasure = after("acknowledged_at", erasedDays);
const afterOpening = after("since", ({ erasureDays }) => erasureDays);

const ids: readonly What[] = ["id"];

/** Beside `deletePerson` (src/directory/person-status.ts) and the deadlines of prisma/GROWTH.md. */
export const leftovers: readonly Leftover[] = [
  {
    tables: ["tombstone"],
    columns: ["person_id"],
    what: ids,
    why: "the id and the date of the deletion, which the change feed needs",
  },
  {
    tables: ["user_name"],
    columns: ["hash"],
    what: ["userNameHash"],
    why: "a keyed hash, so that nobody else gets the user name within a year; the key is in the same database",
    until: after("released_on", 366),
  },
  {
    tables: ["user_name_number"],
    columns: ["hash"],
    what: ["userNameHash"],
    why: "a keyed hash of the user name without its number, which numbers those of others",
    until: after("used_on", 366),
  },
  {
    tables: ["app_event"],
    columns: ["subject_id", "app_subject_id", "next_subject_id", "old_subject_id"],
    what: ids,
    why: "apps read in the change feed that the person was deleted",
    until: after("at", ({ eventDays }) => eventDays),
  },
  {
    tables: ["announced_sign_in"],
    columns: ["person_id", "sight"],
    what: ids,
    why: "hashes of what an app saw, until the changes of that time have ended",
    until: after("at", 1),
  },
  {
    tables: ["webhook_delivery"],
    columns: ["subject_id", "body"],
    what: ids,
    why: "the log of what an app was notified of",
    until: after("finished_at", ({ deliveryDays }) => deliveryDays),
  },
  {
    tables: ["erasure"],
    columns: ["subject_id"],
    what: ids,
    why: "the app's own id of somebody whose data it must erase, until it has confirmed that",
    until: (read, retention) => (read("state") === "erased" ? afterErasure : afterOpening)(read, retention),
  },
  {
    tables: ["webhook_attempt"],
    columns: ["answer"],
    why: "the beginning of what an app responded to a webhook",
    until: after("at", ({ deliveryDays }) => deliveryDays),
  },
  {
    tables: ["api_request"],
    columns: ["path"],
    what: ids,
    why: "the log of requests of an app, which asked for the person by id",
    until: after("at", 7),
  },
  {
    tables: [
      ...["staged_person", "staged_role", "staged_membership", "import_faulty_row", "import_piece"],
      "import_error",
    ],
    why: "a roster that was uploaded and is not applied: apply or cancel the import to delete it earlier",
    until: afterImport,
  },
  {
    tables: ["card_print"],
    columns: ["encrypted"],
    why: "cards that wait to be printed",
    until: after("created_at", 10 / (24 * 60)),
  },
  {
    tables: ["idempotency_key"],
    columns: ["answer"],
    what: ["userName", "other", "firstName", "lastName"],
    why: "a response to staff that has words of the person, and not their id",
    until: after("created_at", 1),
  },
  {
    tables: ["import"],
    columns: ["upload"],
    why: "sample values of a roster whose columns nobody has mapped: cancel the import to delete them earlier",
    until: after("created_at", 7),
  },
];

export const findLeftover = (table: string, column: string, what: What): Leftover | undefined =>
  leftovers.find(
    (one) =>
      one.tables.includes(table) && (one.columns?.includes(column) ?? true) && (one.what?.includes(what) ?? true),
  );

const tablesOfOthers = [
  ...["school", "app", "app_profile", "card_settings", "sandbox"],
  ...["agreement", "agreement_subprocessor", "agreement_purpose"],
  ...["upstream_refusal", "upstream_set_up_link", "upstream_recent_sign_in"],
];

/** Whether a row is about a school, an app or another account: a part of a name is a word of its own there. */
export const isOfOthers = (table: string, read: Read): boolean =>
  tablesOfOthers.includes(table) || (table === "audit" && /^(school|app)_/.test(read("action") ?? ""));
