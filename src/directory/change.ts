import { recordAudit, type AuditLine, type Origin } from "../events/index.ts";
import type { Transaction } from "../platform/database/db.ts";
import { AppError, type ErrorKind } from "../platform/errors.ts";
import type { GroupId, PersonId, SchoolId } from "./ids.ts";

export type Touched = {
  people?: readonly PersonId[];
  groups?: readonly GroupId[];
  schools?: readonly SchoolId[];
  membersOf?: readonly GroupId[];
};

/**
 * The transaction of a change of what apps may see. Every use case names its subjects before it writes: this locks
 * their schools and keeps what every app saw. A new subject is named with its id and its schools; naming one twice is
 * harmless.
 *
 * Errors: `touch` and `touchSchool` throw PostgreSQL's lock timeout.
 */
export type Change = {
  tx: Transaction;
  now: Date;
  actorId?: string | undefined;
  actorRole?: string | undefined;
  requestId?: string | undefined;
  touch(subjects: Touched): Promise<void>;
  /** Names all subjects of a school, now and at the end of the change; with `clientId` for one app's view only. */
  touchSchool(schoolId: SchoolId, clientId?: string): Promise<void>;
};

export const originOf = ({ now, actorId, actorRole, requestId }: Change): Origin => ({
  at: now,
  actorId,
  actorRole,
  requestId,
});

export const auditChange = (change: Change, line: Omit<AuditLine, keyof Origin>): Promise<void> =>
  recordAudit(change.tx, { ...originOf(change), ...line });

export function definedOf<Fields extends object>(
  fields: Fields | undefined,
): { [Name in keyof Fields]?: Exclude<Fields[Name], undefined> } {
  return Object.fromEntries(Object.entries(fields ?? {}).filter(([, value]) => value !== undefined)) as never;
}

export const listDifferent = <Row extends object>(before: Row, after: Row): (keyof Row & string)[] =>
  (Object.keys(after) as (keyof Row & string)[]).filter((name) => after[name] !== before[name]);

type Refusal = readonly [kind: ErrorKind, code: string, message: string];

const idTaken: Refusal = ["conflict", "id_taken", "The id is taken."];
const schoolMissing: Refusal = ["not_found", "school_not_found", "The school does not exist."];
const identifierTaken = (whose: string): Refusal => [
  "conflict",
  "source_system_identifier_taken",
  `${whose} has this identifier of the source system.`,
];

const refusals: Readonly<Record<string, Refusal>> = {
  school_pkey: idTaken,
  person_pkey: idTaken,
  group_pkey: idTaken,
  school_official_id_key: ["conflict", "official_id_taken", "Another school has this official id."],
  person_home_school_id_source_system_identifier_key: identifierTaken("Another person whose home is this school"),
  group_school_id_source_system_identifier_key: identifierTaken("Another group of this school"),
  handover_person_pkey: [
    "conflict",
    "person_already_offered",
    "A pupil is in another open hand-over. Withdraw it first.",
  ],
  affiliation_sandbox_fkey: schoolMissing,
  affiliation_pkey: ["conflict", "person_at_school", "The person is at this school already."],
  membership_pkey: ["conflict", "membership_exists", "The person is in the group already."],
  membership_person_id_school_id_fkey: ["conflict", "person_not_at_school", "The person is not at the group's school."],
  person_home_school_id_fkey: schoolMissing,
  affiliation_school_id_fkey: schoolMissing,
  group_school_id_fkey: schoolMissing,
};

/** Awaits a write; a violated constraint becomes the error that callers are told. */
export const write = <T>(written: PromiseLike<T>): Promise<T> => refuseConstraints(written, refusals);

/** As `write`, with the refusal of each constraint. */
export async function refuseConstraints<T>(written: PromiseLike<T>, refused: Readonly<Record<string, Refusal>>) {
  try {
    return await written;
  } catch (error) {
    const refusal = refused[(error as { constraint?: string }).constraint ?? ""];
    throw refusal === undefined ? error : new AppError(...refusal, undefined, { cause: error });
  }
}
