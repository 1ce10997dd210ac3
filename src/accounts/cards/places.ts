import type { Prisma } from "../../../generated/prisma/client.ts";
import type { PersonId, PersonRole, SchoolId } from "../../directory/index.ts";
import type { RecordStore } from "../../platform/database/db.ts";

const selected = {
  personId: true,
  schoolId: true,
  person: {
    select: {
      id: true,
      homeSchoolId: true,
      status: true,
      blockedAt: true,
      firstFull: true,
      firstCall: true,
      last: true,
      sortKey: true,
      credential: { select: { username: true } },
    },
  },
  memberships: {
    where: { group: { type: "KLASSE", status: "ACTIVE" } },
    select: { group: { select: { name: true, naturalKey: true } } },
  },
} satisfies Prisma.AffiliationSelect;

export type CardPlace = Prisma.AffiliationGetPayload<{ select: typeof selected }>;

/** `groupIds` keeps only those students, `lacks` only people without a password or a valid card. */
export type PlaceFilter = {
  personIds?: readonly string[] | undefined;
  groupIds?: readonly string[] | undefined;
  roles?: readonly PersonRole[] | undefined;
  lacks?: { password: boolean; card: boolean } | undefined;
};

/** Finds the people of a school who may get cards or passwords. `taughtBy` keeps only the students of a teacher. */
export async function findCardPlaces(
  { prisma }: RecordStore,
  filter: PlaceFilter & { schoolId: SchoolId; taughtBy?: PersonId },
): Promise<CardPlace[]> {
  const { schoolId, personIds, groupIds, roles, lacks, taughtBy } = filter;
  const among: Prisma.AffiliationWhereInput[] = [];
  if (groupIds !== undefined)
    among.push({ memberships: { some: { groupId: { in: [...groupIds] }, role: "STUDENT" } } });
  if (roles !== undefined) among.push({ person: { role: { in: [...roles] } } });
  if (lacks?.password) among.push({ person: { NOT: { credential: { passwordHash: { not: null } } } } });
  if (lacks?.card) among.push({ cards: { none: { revokedAt: null } } });
  if (taughtBy !== undefined) among.push({ person: { role: "STUDENT" }, memberships: { some: taughtIn(taughtBy) } });
  const where = { schoolId, ...(personIds && { personId: { in: [...personIds] } }), AND: among };
  return prisma.affiliation.findMany({ where, select: selected });
}

export const taughtIn = (personId: PersonId) =>
  ({
    group: { status: "ACTIVE", memberships: { some: { personId, role: "TEACHER" } } },
  }) satisfies Prisma.MembershipWhereInput;
