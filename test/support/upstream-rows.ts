import type { Db, PrismaDb } from "../../src/platform/database/db.ts";
import { makeUuid } from "../../src/platform/crypto/ids.ts";
import type { SchoolId } from "../../src/directory/index.ts";

/** The row of a connection whose provider nobody calls. Returns its id. */
export async function makeConnectionRow(
  { prisma }: Db & Pick<PrismaDb, "prisma">,
  { school, at }: { school: SchoolId; at: Date },
): Promise<string> {
  const { id } = await prisma.upstreamConnection.create({
    data: {
      id: makeUuid(at),
      schoolId: school,
      profile: "ISERV",
      name: "IServ",
      authMethod: "client_secret_post",
      scopes: [],
      subjectClaim: "uuid",
      ruleField: "USERNAME",
      normalisations: [],
      groupIds: [],
      createdAt: at,
      updatedAt: at,
    },
  });
  return id;
}
