import { isCurrent } from "../../../accounts/index.ts";
import { randomBytes } from "node:crypto";
import type { PersonId } from "../../../directory/index.ts";
import { type Queryable, run, sql, statement, table, update } from "../../../platform/database/sql.ts";
import { hashId } from "./artifact.ts";

const session = table("oidcArtifact", "session");

type Raised = { idHash: Buffer; newIdHash: Buffer; personId: PersonId; amr: string };

const raise = statement<Raised>(
  ({ idHash, newIdHash, personId, amr }) => sql`
    ${update("oidcArtifact", "session", {
      idHash: newIdHash,
      payload: sql`${session.payload} || jsonb_build_object('amr', ${amr}::jsonb)`,
    })}
    WHERE ${session.kind} = 'Session' AND ${session.idHash} = ${idHash} AND ${session.personId} = ${personId}
      AND ${isCurrent(session)}`,
  "sign-on.raiseSession",
);

/** Gives the session a new id, so that the earlier id gains nothing; null if the session has ended. */
export async function raiseSession(
  db: Queryable,
  { id, personId, amr }: { id: string; personId: PersonId; amr: readonly string[] },
): Promise<string | null> {
  const newId = randomBytes(32).toString("base64url");
  const given = { idHash: hashId(id), newIdHash: hashId(newId), personId, amr: JSON.stringify(amr) };
  return (await run(db, raise, given)) === 1 ? newId : null;
}
