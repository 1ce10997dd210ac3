import type { Request, Response } from "express";
import type { PersonId } from "../../directory/index.ts";
import { fields, makeFind, sql, table, type Queryable } from "../../platform/database/sql.ts";
import type { InteractionDeps, StaffSecondFactor } from "./deps.ts";
import { isSharedDevice, startOf } from "./session.ts";
import { hasPassword, hasSecondFactor, hasStaffFactor, isUpstream } from "../../accounts/index.ts";
import { holdsAnyRole, holdsRoleBeyondHome } from "../../staff/index.ts";

/** `hasSecondFactor`: the session was made with one. `needsSecondFactor`: staff roles need one first. */
export type SignedIn = {
  personId: PersonId;
  sessionUid: string;
  /** Whether staff may work in the session: it was not made with a card. */
  hasStaffFactor: boolean;
  /** Whether they signed in so within the last ten minutes. */
  isFresh: boolean;
  hasSecondFactor: boolean;
  needsSecondFactor: boolean;
  isOnSharedDevice: boolean;
};

type FindSignedInDeps = Pick<InteractionDeps, "db" | "clock" | "provider" | "staffSecondFactor" | "sessionSeconds">;

/** Null also for a person who is not active or is blocked, and for staff whose session is too old for staff pages. */
export async function findSignedIn(deps: FindSignedInDeps, req: Request, res: Response): Promise<SignedIn | null> {
  const provider = deps.provider();
  const session = await provider.Session.get(provider.createContext(req, res));
  if (!session.accountId) return null;
  const status = await findStatus(deps.db.pool, { personId: session.accountId, now: deps.clock() });
  if (!status?.isActive || status.isBlocked) return null;
  const { amr } = session;
  const has = hasSecondFactor(amr);
  const isOfStaff = hasStaffFactor(amr);
  // A card alone gives no access to staff pages; the login of a school none to roles beyond it.
  if (status.isStaff && !isOfStaff) return null;
  if (status.worksBeyondHome && !hasPassword(amr)) return null;
  if (status.isStaff && isTooOld(session, deps)) return null;
  return {
    personId: session.accountId as PersonId,
    sessionUid: session.uid,
    hasStaffFactor: isOfStaff,
    isFresh: isOfStaff && !session.past(freshSeconds),
    hasSecondFactor: has,
    isOnSharedDevice: isSharedDevice(session.acr),
    needsSecondFactor: isNeeded(deps.staffSecondFactor, status) && !(has && (status.hasFactor || isUpstream(amr))),
  };
}

const freshSeconds = 600;

/** Whether a session is too old for the work of staff: a school may let it last longer than the service does. */
export const isTooOld = (
  session: Parameters<typeof startOf>[0],
  { clock, sessionSeconds }: Pick<InteractionDeps, "clock" | "sessionSeconds">,
): boolean => (startOf(session) + sessionSeconds) * 1000 <= clock().getTime();

type Status = { isActive: boolean; isBlocked: boolean; isStaff: boolean; worksBeyondHome: boolean; hasFactor: boolean };

const person = table("person");
const factor = table("secondFactor", "factor");

const findRow = makeFind<Status, { personId: string; now: Date }>(
  ({ personId, now }) => sql`
    SELECT ${fields<Status>({
      isActive: sql`${person.status} = 'ACTIVE'`,
      isBlocked: sql`${person.blockedAt} IS NOT NULL`,
      isStaff: holdsAnyRole(person, now),
      worksBeyondHome: holdsRoleBeyondHome(person, now),
      hasFactor: sql`EXISTS (SELECT FROM ${factor} WHERE ${factor.personId} = ${person.id}
        AND (${factor.isAsked} OR ${holdsAnyRole(person, now)}))`,
    })}
    FROM ${person} WHERE ${person.id} = ${personId}`,
  "sign-on.findStatus",
);

const isNeeded = (policy: StaffSecondFactor, { isStaff, hasFactor }: Status): boolean =>
  hasFactor || (policy === "required" && isStaff);

async function findStatus(db: Queryable, params: { personId: string; now: Date }): Promise<Status | null> {
  const [status] = await findRow(db, params);
  return status ?? null;
}

export async function findNextStep(
  { db, clock, staffSecondFactor }: Pick<InteractionDeps, "db" | "clock" | "staffSecondFactor">,
  personId: PersonId,
): Promise<"confirm" | "set_up" | "none"> {
  const status = await findStatus(db.pool, { personId, now: clock() });
  if (status === null || !isNeeded(staffSecondFactor, status)) return "none";
  return status.hasFactor ? "confirm" : "set_up";
}

/** Why the person may not sign in to the platform; null if they may. */
export async function findRefusal(db: Queryable, params: { personId: string; now: Date }) {
  const status = await findStatus(db, params);
  if (!status?.isActive) return "refused";
  return status.isBlocked ? "blocked" : null;
}
