import type { PersonId } from "../directory/index.ts";
import type { RecordStore } from "../platform/database/db.ts";

export type SignInTimes = { firstSignInAt: Date; lastSignInAt: Date };

export async function listSignInTimes(
  { prisma }: Pick<RecordStore, "prisma">,
  personIds: readonly PersonId[],
): Promise<ReadonlyMap<PersonId, SignInTimes>> {
  const found = await prisma.signIn.groupBy({
    by: ["personId"],
    where: { personId: { in: [...personIds] } },
    _min: { firstSignInAt: true },
    _max: { lastSignInAt: true },
  });
  return new Map(
    found.map(({ personId, _min, _max }) => [
      personId as PersonId,
      { firstSignInAt: _min.firstSignInAt!, lastSignInAt: _max.lastSignInAt! },
    ]),
  );
}
