import type { Prisma } from "../../../generated/prisma/client.ts";
import type { PersonId, PersonName, SchoolId } from "../../directory/index.ts";
import { recordAudit, recordAuditLines, type Origin } from "../../events/index.ts";
import type { RecordStore, Transaction } from "../../platform/database/db.ts";
import { closePasswordRequests } from "../password-requests.ts";
import type { MadeCard } from "./make-card.ts";
import { taughtIn } from "./places.ts";
import type { CardSecondStep } from "./settings.ts";

declare const cardId: unique symbol;
export type CardId = string & { readonly [cardId]: true };

type Given = { personId: PersonId; schoolId: SchoolId; card: MadeCard };

/** Creates a card and revokes the person's earlier cards. The caller holds the lock of the person. */
export async function createCardIn(
  tx: Transaction,
  { personId, schoolId, card }: Given,
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

/** Revokes cards of a school, with an audit line for each person. Returns how many. */
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
  const line = { ...origin, action: "login_card_revoked", schoolId };
  await recordAuditLines(
    tx,
    found.map((card) => ({ ...line, personId: card.personId, detail: { cardId: card.id } })),
  );
  return count;
}

export type ListedCard = {
  id: CardId;
  personId: PersonId;
  name: PersonName | null;
  secondStep: CardSecondStep;
  createdAt: Date;
  lastUsedAt: Date | null;
  revokedAt: Date | null;
};

/** Lists the cards of people whose home is a school, latest first. `taughtBy` keeps only students of this teacher. */
export async function listCards(
  { prisma }: RecordStore,
  asked: {
    schoolId: SchoolId;
    personId?: PersonId | undefined;
    id?: CardId | undefined;
    taughtBy?: PersonId | undefined;
    after?: string | undefined;
    limit: number;
  },
): Promise<ListedCard[]> {
  const { schoolId, personId, id, taughtBy, after, limit } = asked;
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
    include: { affiliation: { select: { person: { select: { firstFull: true, firstCall: true, last: true } } } } },
    orderBy: { id: "desc" },
    take: limit,
  });
  return found.map(({ affiliation: { person }, ...card }) => ({
    id: card.id as CardId,
    personId: card.personId as PersonId,
    name: nameOf(person),
    secondStep: card.secondStep,
    createdAt: card.createdAt,
    lastUsedAt: card.lastUsedAt,
    revokedAt: card.revokedAt,
  }));
}

function nameOf({ firstFull, firstCall, last }: { [Part in keyof PersonName]: string | null }): PersonName | null {
  return firstFull === null || firstCall === null || last === null ? null : { firstFull, firstCall, last };
}
