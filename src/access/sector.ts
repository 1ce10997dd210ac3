import type { RecordStore } from "../platform/database/db.ts";
import { AppError } from "../platform/errors.ts";
import type { Registration } from "./find-app.ts";

type Wish = { subjectType?: Registration["subjectType"] | undefined; sector?: string | null | undefined };

/** Whether it is the sector of an app with the ids of its partner, or of one that is being moved to such ids. */
async function isPartnerSector({ prisma }: RecordStore, sector: string, clientIds?: readonly string[]) {
  const clientId = clientIds && { in: [...clientIds] };
  const where = { subjectType: "PARTNER" as const, ...(clientId && { clientId }) };
  const moving = { ...where, newSector: sector, state: { in: ["PREPARING" as const, "RUNNING" as const] } };
  return (
    (await prisma.app.count({ where: { ...where, sector } })) > 0 || (await prisma.idMove.count({ where: moving })) > 0
  );
}

/** Errors: invalid sector_refused. */
export async function checkSector(db: RecordStore, { subjectType, sector = null }: Wish): Promise<void> {
  if (sector !== null && (subjectType !== "PARTNER" || !(await isPartnerSector(db, sector)))) throw sectorRefused();
}

/** Errors: invalid sector_refused for a sector of other apps than these. */
export async function refuseOthersSector(
  db: RecordStore,
  sector: string | undefined,
  own: ReadonlySet<string>,
): Promise<void> {
  if (sector !== undefined && !(await isPartnerSector(db, sector, [...own]))) throw sectorRefused();
}

const sectorRefused = () =>
  new AppError("invalid", "sector_refused", "The sector is not that of an app of yours with the ids of its partner.");
