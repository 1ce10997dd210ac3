import { present } from "../../platform/contract-types.ts";
import { withPrismaTransaction, type RecordStore } from "../../platform/database/db.ts";
import {
  deleteExemption,
  findDue,
  findExemption,
  givenAt,
  lockExemption,
  putExemption,
  type RetentionExemption,
} from "../../retention/index.ts";
import type { PersonId } from "../../directory/index.ts";
import { changeRecord, tagOf } from "../change.ts";
import type { AdminHandler, Schemas } from "../handler.ts";
import { getReachedPerson } from "../whose-person.ts";

const dayOf = (until: Date): string => new Date(until.getTime() - 1).toISOString().slice(0, 10);

export async function readExemption(db: RecordStore, personId: PersonId): Promise<Schemas["RetentionExemption"]> {
  const found = await findExemption(db, personId);
  return found && present<NonNullable<Schemas["RetentionExemption"]>>({ ...found, until: dayOf(found.until) });
}

export const getPersonRetention: AdminHandler<"getPersonRetention"> = async (deps, { personId, reach, origin }) => {
  const { db, retentionRules } = deps;
  await getReachedPerson(db, reach, personId);
  const due = await findDue(db.pool, givenAt(retentionRules, origin.at), personId);
  const exemption = await readExemption(db, personId);
  const body = present<Schemas["PersonRetention"]>({
    due: due && present<NonNullable<Schemas["RetentionDue"]>>(due),
    exemption,
  });
  return { status: 200, body, headers: { ETag: tagOf({ exemption }) } };
};

export const putRetentionExemption: AdminHandler<"putRetentionExemption"> = (deps, request) => {
  const { personId, reach, body, origin } = request;
  const exemption: RetentionExemption = { until: new Date(`${body.until}T24:00:00Z`), reason: body.reason };
  return changeRecord(deps, request, {
    async touch(tx) {
      await getReachedPerson(tx, reach, personId);
      await lockExemption(tx, personId);
    },
    record: async (tx) => ({ exemption: await readExemption(tx, personId) }),
    work: (tx) => putExemption(tx, personId, exemption, origin),
    effect: "forgets",
  });
};

export const withdrawRetentionExemption: AdminHandler<"withdrawRetentionExemption"> = async ({ db }, request) => {
  const { personId, reach, origin } = request;
  return withPrismaTransaction(db, async (tx) => {
    await getReachedPerson(tx, reach, personId);
    await deleteExemption(tx, personId, origin);
    return { status: 204 as const };
  });
};
