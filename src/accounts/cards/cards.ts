import type { Prisma } from "../../../generated/prisma/client.ts";
import { personNameOf, type PersonId, type SchoolId } from "../../directory/index.ts";
import { recordAudit, recordAuditLines, type Origin } from "../../events/index.ts";
import type { RecordStore, Transaction } from "../../platform/database/db.ts";
import { closePasswordRequests } from "../password-requests.ts";
import type { MadeCard } from "./make-card.ts";
import { taughtIn } from "./places.ts";

declare const cardId: unique symbol;
export type CardId = string & { readonly [cardId]: true };

/** Creates a card and revokes the person's earlier cards. The caller holds the lock of the person. */
export async function createCardIn(
  tx: Transaction,
  { personId, schoolId, card }: { personId: PersonId; schoolId: SchoolId; card: MadeCard },
  origin: Origin,
): Promise<void> {
  await revokeCardsIn(tx, { schoolId, personIds: [personId] }, origin);
  const { id, secondStep, tokenHash, secondStepHash } = card;
  await tx.prisma.loginCard.create({
    data: {
      id,
      personId,
      schoolId,
      secondStep,
      createdAt: origin.at,
      createdByRole: origin.actorRole ?? null,
      tokenHash: new Uint8Array(tokenHash),
      secondStepHash: secondStepHash && new Uint8Array(secondStepHash),
    },
  });
  await closePasswordRequests(tx, [personId]);
  await recordAudit(tx, { ...origin, action: "login_card_created", personId, schoolId, detail: { cardId: id } });
}

type Revoked = { schoolId: SchoolId; personIds?: readonly PersonId[]; id?: CardId };

/** Revokes cards of a school, with an audit entry for each. Returns how many. */
export async function revokeCardsIn(
  tx: Transaction,
  { schoolId, personIds, id }: Revoked,
  origin: Origin,
): Promise<number> {
  const among = { ...(personIds && { personId: { in: [...personIds] } }), ...(id && { id }) };
  const where = { schoolId, revokedAt: null, ...among } satisfies Prisma.LoginCardWhereInput;
  const found = await tx.prisma.loginCard.findMany({ where, select: { id: true, personId: true } });
  const ids = found.map((card) => card.id);
  const { count } = await tx.prisma.loginCard.updateMany({
    where: { id: { in: ids }, revokedAt: null },
    data: { revokedAt: origin.at },
  });
  const line = { ...origin, action: "login_card_revoked" as const, schoolId };
  await recordAuditLines(
    tx,
    found.map((card) => ({ ...line, personId: card.personId, detail: { cardId: card.id } })),
  );
  return count;
}

const shown = {
  id: true,
  personId: true,
  secondStep: true,
  createdAt: true,
  lastUsedAt: true,
  revokedAt: true,
  affiliation: { select: { person: { select: { firstFull: true, firstCall: true, last: true } } } },
} satisfies Prisma.LoginCardSelect;

type CardFilter = {
  schoolId: SchoolId;
  personId?: PersonId | undefined;
  id?: CardId | undefined;
  taughtBy?: PersonId | undefined;
  after?: string | undefined;
  limit: number;
};

/** Lists the cards of people whose home is a school, latest first. `taughtBy` keeps only students of this teacher. */
export async function listCards(
  { prisma }: RecordStore,
  { schoolId, personId, id, taughtBy, after, limit }: CardFilter,
) {
  const found = await prisma.loginCard.findMany({
    where: {
      schoolId,
      ...(personId && { personId }),
      AND: [id === undefined ? {} : { id }, after === undefined ? {} : { id: { lt: after } }],
      affiliation: {
        person: { homeSchoolId: schoolId, ...(taughtBy && { role: "STUDENT" }) },
        ...(taughtBy && { memberships: { some: taughtIn(taughtBy) } }),
      },
    },
    select: shown,
    orderBy: { id: "desc" },
    take: limit,
  });
  return found.map(({ affiliation: { person }, ...card }) => ({ ...card, name: personNameOf(person) }));
}
