import type { PersonId } from "../directory/index.ts";
import type { Queryable } from "../platform/db.ts";
import { makeNoticeStatement } from "./logout/notice.ts";

type Told = { clientId: string; sid: string };

const raiseGeneration = "UPDATE credential SET generation = generation + 1 WHERE person_id = $1";
const deletePlaces = "DELETE FROM sign_in_place WHERE person_id = $1";

// The apps that the sessions were used for, and those that hold tokens still, those of a session that has ended included.
const deleteArtifacts = `
  WITH gone AS (DELETE FROM oidc_artifact WHERE person_id = $1 RETURNING kind, client_id, session_uid, payload, expires_at),
  told AS (
    SELECT jsonb_object_keys(payload->'authorizations') AS client_id, session_uid AS sid FROM gone WHERE kind = 'Session' AND expires_at > $2
    UNION
    SELECT client_id, payload->>'sessionUid' FROM gone WHERE client_id IS NOT NULL AND payload->>'sessionUid' IS NOT NULL AND expires_at > $2)
  SELECT (SELECT count(*)::int FROM gone) AS gone,
    (SELECT coalesce(json_agg(json_build_object('clientId', client_id, 'sid', sid)), '[]') FROM told) AS told`;

/**
 * Ends whatever a person has under way: sessions, interactions, codes and tokens, those for offline access too; their known devices
 * are forgotten, and the apps concerned are told of the logout.
 *
 * Shape: of the transaction that says why. What requests of now still write is of the earlier generation, and void.
 */
export async function endSignIns(tx: Queryable, { personId, at }: { personId: PersonId; at: Date }): Promise<void> {
  await tx.query({ name: "sign-on.raiseGeneration", text: raiseGeneration, values: [personId] });
  await tx.query({ name: "sign-on.deletePlaces", text: deletePlaces, values: [personId] });
  const told = new Map<string, Told>();
  // A refresh that runs at the same time holds the token it uses: the first DELETE waits for it, the next one sees what it gave.
  for (let gone = 1; gone > 0;) {
    const { rows } = await tx.query<{ gone: number; told: Told[] }>({
      name: "sign-on.deleteArtifactsOf",
      text: deleteArtifacts,
      values: [personId, at],
    });
    for (const notice of rows[0]!.told) told.set(JSON.stringify([notice.clientId, notice.sid]), notice);
    ({ gone } = rows[0]!);
  }
  for (const { clientId, sid } of told.values()) await tx.query(makeNoticeStatement({ clientId, personId, sid, at }));
}
