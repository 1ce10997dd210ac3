import type { Origin } from "../events/index.ts";
import type { Transaction } from "../platform/database/db.ts";
import type { GroupId, PersonId, SchoolId } from "./ids.ts";

/** `membersOf` are groups whose members are all concerned, as when a group is deleted or restored. */
export type Touched = {
  people?: readonly PersonId[];
  groups?: readonly GroupId[];
  schools?: readonly SchoolId[];
  membersOf?: readonly GroupId[];
};

/**
 * The one transaction in which what apps may see is changed.
 *
 * Shape:  every use case names its subjects before it alters them. Their schools are locked and what every app saw is
 *         noted; a subject that is about to be made is named with its id and the schools it comes to. Naming a subject
 *         again costs little and changes nothing.
 * Errors: `touch` and `touchSchool` throw PostgreSQL's error for a lock that was not free in time.
 */
export type Change = {
  tx: Transaction;
  now: Date;
  actorId?: string | undefined;
  actorRole?: string | undefined;
  requestId?: string | undefined;
  touch(subjects: Touched): Promise<void>;
  /**
   * Names all subjects of a school, those that come to it during the change included; with `clientId`, of one app's
   * view.
   */
  touchSchool(schoolId: SchoolId, clientId?: string): Promise<void>;
};

/** Where a change comes from, for its audit lines. */
export const originOf = ({ now, actorId, actorRole, requestId }: Change): Origin => ({
  at: now,
  actorId,
  actorRole,
  requestId,
});
