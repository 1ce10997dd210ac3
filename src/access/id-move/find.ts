import type { Prisma } from "../../../generated/prisma/client.ts";
import type { RecordStore } from "../../platform/database/db.ts";
import type { ClientId } from "../token.ts";

type Row = Prisma.IdMoveModel;

/** Which ids of the list of changes the app reads. */
export type IdInUse = "OLD" | "NEW";

export type IdMove = Pick<
  Row,
  "subjectType" | "people" | "isAnnounced" | "read" | "readAt" | "startedAt" | "cutOverAt"
> & {
  clientId: ClientId;
  state: Exclude<Row["state"], "CALLED_OFF">;
  /** The sector that the partner's other apps can choose; null for ids of the app alone. */
  sector: string | null;
  /** How many people were announced. */
  announced: number;
  /** When the list of new ids was emptied. */
  forgottenAt: Date | null;
};

/** Null if there was none, or it was called off. */
export async function findIdMove({ prisma }: RecordStore, clientId: ClientId): Promise<IdMove | null> {
  const found = await prisma.idMove.findUnique({ where: { clientId } });
  if (found === null || found.state === "CALLED_OFF") return null;
  const { state, subjectType, people, isAnnounced, read, readAt, startedAt, cutOverAt, forgottenAt } = found;
  const left = await prisma.pairwiseId.count({ where: { sector: found.oldSector, isUnannounced: true } });
  const announced = Math.max(found.passed - left, 0);
  const sector = subjectType === "PARTNER" ? found.newSector : null;
  const counts = { people, announced, isAnnounced, read, readAt };
  return { clientId, state, subjectType, sector, ...counts, startedAt, cutOverAt, forgottenAt };
}
