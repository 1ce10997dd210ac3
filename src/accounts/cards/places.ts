import type { Prisma } from "../../../generated/prisma/client.ts";
import type { PersonId, SchoolId } from "../../directory/index.ts";
import type { RecordStore } from "../../platform/database/db.ts";

const included = {
  person: { include: { credential: { select: { username: true } } } },
  memberships: {
    where: { group: { type: "KLASSE", status: "ACTIVE" } },
    select: { group: { select: { name: true, naturalKey: true } } },
  },
} satisfies Prisma.AffiliationInclude;

export type CardPlace = Prisma.AffiliationGetPayload<{ include: typeof included }>;

/** Finds the people of a school who may get cards. `groupId` and `taughtBy` keep only those students. */
export async function findCardPlaces(
  { prisma }: RecordStore,
  asked: {
    schoolId: SchoolId;
    personIds?: readonly string[] | undefined;
    groupId?: string | undefined;
    taughtBy?: PersonId;
  },
): Promise<CardPlace[]> {
  const { schoolId, personIds, groupId, taughtBy } = asked;
  const among: Prisma.AffiliationWhereInput[] = [];
  if (groupId !== undefined) among.push({ memberships: { some: { groupId, role: "STUDENT" } } });
  if (taughtBy !== undefined) among.push({ person: { role: "STUDENT" }, memberships: { some: taughtIn(taughtBy) } });
  const where = { schoolId, ...(personIds && { personId: { in: [...personIds] } }), AND: among };
  return prisma.affiliation.findMany({ where, include: included });
}

export const taughtIn = (personId: PersonId) =>
  ({
    group: { status: "ACTIVE", memberships: { some: { personId, role: "TEACHER" } } },
  }) satisfies Prisma.MembershipWhereInput;
