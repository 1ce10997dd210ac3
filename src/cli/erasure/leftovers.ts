import { erasedDays } from "../../access/index.ts";
import { addDays } from "../../platform/clock.ts";
import type { What } from "./matcher.ts";

export type Retention = { auditDays: number; eventDays: number; deliveryDays: number; erasureDays: number };
type Read = (column: string) => string | null;

/** What the deletion of a person leaves in a table on purpose, or what other deadlines than the person's remove. */
export type Leftover = {
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
  text === null ? null : new Date(text.replace(" ", "T").replace(/([+-]\d\d)$/, "$1:00"));

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
    tables: ["user_name", "user_name_number"],
    columns: ["hash"],
    what: ["userNameHash"],
    why: "a keyed hash, so that the user name is never given to another person; the key is in the same database",
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
];

/** Whether a row is about a school or an app, in which a part of a name is a word of its own: a street, a town. */
export const isOfOthers = (table: string, read: Read): boolean =>
  tablesOfOthers.includes(table) || (table === "audit" && /^(school|app)_/.test(read("action") ?? ""));

/** Encrypted values, which are not searched but for ids that are not encrypted. */
export const encryptedColumns: readonly { column: string; holds: string }[] = [
  { column: "card_print.encrypted", holds: "cards that wait to be printed, deleted ten minutes after they were made" },
  { column: "credential_batch.encrypted", holds: "cards and passwords of classes, deleted after a day" },
  { column: "credential_batch_person.encrypted", holds: "the password and card of a person, deleted after a day" },
  {
    column: "idempotency_key.answer",
    holds: "responses to staff, deleted after a day; those about the person are empty",
  },
  { column: "oidc_artifact.replay", holds: "tokens of other people, deleted when they expire" },
  { column: "second_factor.secret", holds: "secrets of authenticator apps of other people" },
  { column: "shared_secret.encrypted", holds: "keys of the service" },
  { column: "signing_key.encrypted_private", holds: "keys of the service" },
  { column: "upstream_connection.client_secret", holds: "secrets of schools at their own logins" },
  {
    column: "upstream_recent_sign_in.claims",
    holds: "what the logins of schools sent of other people, deleted after 30 days",
  },
  { column: "upstream_refusal.details", holds: "accounts that were not let in, deleted after 30 days" },
  { column: "upstream_round_trip.details", holds: "what a browser brings back, deleted after ten minutes" },
  { column: "upstream_session.id_token", holds: "ID tokens of other people, deleted with their sessions" },
  { column: "upstream_set_up_link.tested", holds: "a test sign-in of an IT contact, deleted with the set-up link" },
  { column: "webhook_secret.sealed", holds: "secrets of webhooks" },
];

/** Hashes and keys: a value can only be compared with them if their key and what was hashed are known. */
export const hashColumns: readonly string[] = [
  ...["app.secret_hash", "app.old_secret_hash", "idempotency_key.request_hash", "login_card.token_hash"],
  ...["login_card.second_step_hash", "oidc_artifact.id_hash", "rate_limit.key", "recovery_code.hash"],
  ...["second_factor.public_key", "sign_in_brake.key", "sign_in_place.place", "user_name.hash", "user_name_key.key"],
  ...["user_name_number.hash", "wrong_password.key"],
  ...["upstream_refusal.subject_hash", "upstream_round_trip.browser_hash", "upstream_round_trip.state_hash"],
  ...["upstream_set_up_link.browser_hash", "upstream_set_up_link.token_hash"],
];

/** The other binary columns, which are searched as text and for ids. */
export const readableColumns: readonly string[] = [
  ...["agreement.pdf", "app_logo.bytes", "import_piece.bytes", "school_logo.bytes", "webhook_attempt.answer"],
];
