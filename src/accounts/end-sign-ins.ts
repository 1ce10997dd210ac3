import type { PersonId } from "../directory/index.ts";
import { makeFind, makeFindOne, makeRowLock, makeRun, sql, table, update } from "../platform/database/sql.ts";
import type { Parameter, Queryable, Sql } from "../platform/database/sql.ts";
import { recordNotices } from "./logout-notices.ts";
import type { Clock } from "../platform/clock.ts";
import { withTransaction, type Db } from "../platform/database/db.ts";
import { workInBatches } from "../platform/jobs/batches.ts";
import type { WorkerJob } from "../platform/jobs/worker.ts";

type Notified = { clientId: string; personId: PersonId; sid: string };

const credential = table("credential");
const device = table("signInPlace");
const artifact = table("oidcArtifact");
const storedArtifact = table("oidcArtifact", "kept");

const v_credential = table("credential", "v_credential");
const v_card = table("loginCard", "v_card");
const v_settings = table("cardSettings", "v_settings");
const v_upstream = table("upstreamSession", "v_upstream");

/** SQL condition for every search of artifacts: neither the sign-in nor its card or upstream session has ended. */
export const isCurrent = ({
  personId,
  generation,
  cardId,
  upstreamSessionId,
}: { readonly [Name in "personId" | "generation" | "cardId" | "upstreamSessionId"]: Sql }): Sql =>
  sql`(${personId} IS NULL OR EXISTS (SELECT FROM ${v_credential}
      WHERE ${v_credential.personId} = ${personId} AND ${v_credential.generation} = ${generation})
    AND (${cardId} IS NULL OR EXISTS (SELECT FROM ${v_card} JOIN ${v_settings} ON ${v_settings.schoolId} = ${v_card.schoolId}
      WHERE ${v_card.id} = ${cardId} AND ${v_card.revokedAt} IS NULL AND ${v_settings.enabled}))
    AND (${upstreamSessionId} IS NULL OR EXISTS (SELECT FROM ${v_upstream}
      WHERE ${v_upstream.id} = ${upstreamSessionId} AND ${v_upstream.endedAt} IS NULL)))`;

/** Locks the login and the block of a person until the end of the transaction. */
export const lockPersonSignIn = makeRowLock("person", "id", "sign-on.lockPerson");

type People = { personIds: readonly PersonId[] };

const raiseGeneration = makeRun<People>("sign-on.raiseGeneration")`
    ${update("credential", "credential", { generation: sql`${credential.generation} + 1` })}
    WHERE ${credential.personId} = ANY (${"personIds"}::uuid[])`;

const deleteDevices = makeRun<People>("sign-on.deleteKnownDevices")`
  DELETE FROM ${device} WHERE ${device.personId} = ANY (${"personIds"}::uuid[])`;

// Artifacts that outlive their session name it in the payload.
const sessionOf = (of: typeof artifact): Sql =>
  sql`coalesce(${of.sessionUid}, ${of.payload}->>'sessionUid', ${of.payload}->'session'->>'uid')`;

const keepSession = makeRun<{ personId: PersonId; keptUid: string }>("sign-on.keepSession")`
    ${update("oidcArtifact", "kept", { generation: sql`${storedArtifact.generation} + 1` })}
    WHERE ${storedArtifact.personId} = ${"personId"} AND ${sessionOf(storedArtifact)} = ${"keptUid"}`;

// Notifies the apps that the sessions were used for, and those that hold tokens of ended sessions.
const deleteThose = (those: Sql, at: Parameter): Sql => sql`
  WITH gone AS (
    DELETE FROM ${artifact} WHERE ${those}
    RETURNING ${artifact.kind} AS kind, ${artifact.clientId} AS client_id, ${artifact.personId} AS person_id,
      ${artifact.sessionUid} AS session_uid, ${artifact.payload} AS payload, ${artifact.expiresAt} AS expires_at),
  notified AS (
    SELECT jsonb_object_keys(payload->'authorizations') AS client_id, person_id, session_uid AS sid
    FROM gone WHERE kind = 'Session' AND expires_at > ${at}
    UNION
    SELECT client_id, person_id, payload->>'sessionUid'
    FROM gone WHERE client_id IS NOT NULL AND payload->>'sessionUid' IS NOT NULL AND expires_at > ${at})
  SELECT (SELECT count(*)::int FROM gone) AS gone, (
    SELECT coalesce(json_agg(json_build_object('clientId', client_id, 'personId', person_id, 'sid', sid)), '[]')
    FROM notified) AS notified`;

type Deletion = People & { at: Date; keptUid: string | null };
type Deleted = { gone: number; notified: Notified[] };

const isOfPeople = (personIds: Parameter): Sql => sql`${artifact.personId} = ANY (${personIds}::uuid[])`;

const deleteArtifacts = makeFindOne<Deleted, Deletion>(({ personIds, at, keptUid }) => {
  const isKept = sql`${keptUid}::text IS NOT NULL AND ${sessionOf(artifact)} IS NOT DISTINCT FROM ${keptUid}`;
  return deleteThose(sql`${isOfPeople(personIds)} AND NOT (${isKept})`, at);
}, "sign-on.deleteArtifactsOf");

const deleteVoid = makeFindOne<Deleted, Omit<Deletion, "keptUid">>(
  ({ personIds, at }) => deleteThose(sql`${isOfPeople(personIds)} AND NOT ${isCurrent(artifact)}`, at),
  "sign-on.deleteVoidArtifacts",
);

/**
 * Ends all sign-ins of a person except the session `keptUid`, forgets known devices and notifies the apps. Tokens that
 * other requests are about to store belong to an earlier generation, which is no longer valid.
 */
export async function endSignIns(
  tx: Queryable,
  { personId, at, keptUid = null }: { personId: PersonId; at: Date; keptUid?: string | null },
): Promise<void> {
  await endSignInsOf(tx, { personIds: [personId], at }, async () => {
    if (keptUid !== null) await keepSession(tx, { personId, keptUid });
    return keptUid;
  });
}

/** As `endSignIns`, for many people in a few statements. */
export async function endSignInsOf(
  tx: Queryable,
  { personIds, at }: People & { at: Date },
  keep: () => Promise<string | null> = () => Promise.resolve(null),
): Promise<void> {
  await raiseGeneration(tx, { personIds });
  const keptUid = await keep();
  await deleteDevices(tx, { personIds });
  await deleteAndNotify(tx, at, () => deleteArtifacts(tx, { personIds, at, keptUid }));
}

async function deleteAndNotify(tx: Queryable, at: Date, deletion: () => Promise<Deleted>): Promise<void> {
  const all = new Map<string, Notified & { at: Date }>();
  // A refresh locks the token it uses: the first DELETE waits for it, the next one sees the new token.
  for (let deleted = 1; deleted > 0;) {
    const { gone, notified } = await deletion();
    for (const one of notified) all.set(JSON.stringify([one.clientId, one.sid]), { ...one, at });
    deleted = gone;
  }
  await recordNotices(tx, [...all.values()]);
}

const waiting = table("voidSignIn");
const atOnce = 500;

const takeWaiting = makeFind<{ personId: PersonId }, { limit: number }>("sign-on.takeVoidSignIns")`
    DELETE FROM ${waiting} WHERE ${waiting.personId} IN (
      SELECT ${waiting.personId} FROM ${waiting} LIMIT ${"limit"} FOR UPDATE SKIP LOCKED)
    RETURNING ${waiting.personId} AS "personId"`;

/** Makes the job that deletes void sign-ins of deleted or restored people and revoked cards, and notifies the apps. */
export function makeVoidSignInsJob({ db, clock }: { db: Db; clock: Clock }): WorkerJob {
  return {
    name: "sign-on.endSignIns",
    everySeconds: 1,
    async run(signal) {
      const endSome = (limit: number) =>
        withTransaction(db, async (tx) => {
          const personIds = (await takeWaiting(tx, { limit })).map(({ personId }) => personId);
          const at = clock();
          if (personIds.length > 0) await deleteAndNotify(tx, at, () => deleteVoid(tx, { personIds, at }));
          return personIds.length;
        });
      await workInBatches(signal, endSome, atOnce);
    },
  };
}

const notice = table("logoutNotice");
const limit = table("signInBrake");
const wrongPassword = table("wrongPassword");

// Without a foreign key to the person: tokens are kept until they are swept.
const deleteTraces = makeRun<{ personId: PersonId }>("sign-on.forgetPerson")`
    WITH artifacts AS (DELETE FROM ${artifact} WHERE ${artifact.personId} = ${"personId"}),
      limits AS (DELETE FROM ${limit} WHERE ${limit.personId} = ${"personId"}),
      wrong AS (DELETE FROM ${wrongPassword} WHERE ${wrongPassword.personId} = ${"personId"})
    DELETE FROM ${notice} WHERE ${notice.personId} = ${"personId"}`;

// First, because the job that deletes void sign-ins locks in the same order.
const forgetWaiting = makeRun<{ personId: PersonId }>("sign-on.forgetVoidSignIn")`
  DELETE FROM ${waiting} WHERE ${waiting.personId} = ${"personId"}`;

/** Deletes every session, code, token and notice of a person; part of deleting the person for good. */
export async function forgetPerson(tx: Queryable, personId: PersonId): Promise<void> {
  await forgetWaiting(tx, { personId });
  await deleteTraces(tx, { personId });
}
