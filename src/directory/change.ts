import type { Origin } from "../events/index.ts";
import type { Queryable } from "../platform/db.ts";
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
 * Shape: every use case names its subjects before it alters them. Their schools are locked and what every app saw is
 *        noted; a subject that is about to be made is named with its id and the schools it comes to. Naming one again
 *        costs little and changes nothing.
 */
export type Change = {
  tx: Queryable;
  now: Date;
  actorId?: string | undefined;
  requestId?: string | undefined;
  touch(subjects: Touched): Promise<void>;
  /** Everybody and everything of a school, those who come to it during the change included; of one app's view only if it is named. */
  touchSchool(schoolId: SchoolId, clientId?: string): Promise<void>;
};

/** What an audit line says of where a change comes from. */
export const originOf = ({ now, actorId, requestId }: Change): Origin => ({ at: now, actorId, requestId });
