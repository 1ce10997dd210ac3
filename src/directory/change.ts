import { recordAudit, type AuditLine, type Origin } from "../events/index.ts";
import type { Transaction } from "../platform/database/db.ts";
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
