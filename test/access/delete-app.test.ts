// @module-tag slow
import { randomUUID } from "node:crypto";
import { expect, test } from "vitest";
import { deleteApp, type ClientId, type ForgetApp } from "../../src/access/index.ts";
import { sequenceEvents } from "../../src/events/index.ts";
import type { Queryable } from "../../src/platform/database/sql.ts";
import { createSandbox, forgetAppWithSandboxes } from "../../src/sandbox/index.ts";
import { forgetApp } from "../../src/sign-on/index.ts";
import { hashId } from "../../src/sign-on/protocol/storage/artifact.ts";
import { explainPrepared, listScanned } from "../support/explain.ts";
import { insertEvents } from "../support/app-events.ts";
import { makeMakers } from "../support/make.ts";
import { asOthers } from "../support/one-connection.ts";
import { testDatabase } from "../support/database.ts";
import { isWhole } from "../support/traces.ts";

const db = await testDatabase();
const make = makeMakers(db);
const at = new Date("2026-02-03T08:00:00Z");
const remove = (clientId: ClientId, forget: ForgetApp = forgetAppWithSandboxes) =>
  deleteApp(db, clientId, { origin: { at }, forget });

/** What is kept on purpose of an app that is gone. */
const kept = {
  audit: "who did what, and when",
  retired_client_id: "that the client id is not given again",
  disclosure_period: "whom the app could read, until PRIVACY_RECORD_DAYS after its deletion",
  registration_period: "what it could read, and its name",
  agreement: "what a school agreed to",
  agreement_acceptance: "that the school agreed, and when",
  withheld_period: "what schools withheld from it",
};

/** The client ids of `upstream_connection` are those that schools' providers gave to this service. */
async function countRows(clientId: ClientId): Promise<Record<string, number>> {
  const { rows: tables } = await db.pool.query<{ name: string }>(
    `SELECT c.table_name AS name FROM information_schema.columns c JOIN information_schema.tables t USING (table_schema, table_name)
     WHERE c.table_schema = 'public' AND c.column_name = 'client_id' AND c.table_name <> 'upstream_connection'
       AND t.table_type = 'BASE TABLE' AND ${isWhole} ORDER BY 1`,
  );
  const counts: Record<string, number> = {};
  for (const { name } of tables) {
    const { rows } = await db.pool.query<{ count: number }>(
      `SELECT count(*)::int AS count FROM "${name}" WHERE client_id = $1`,
      [clientId],
    );
    counts[name] = rows[0]!.count;
  }
  return counts;
}

/** An app with a row in every table that names one. */
async function makeFullApp(): Promise<ClientId> {
  const [school, { clientId }] = [await make.school(), await make.app()];
  const group = await make.group({ school });
  const personId = await make.person({ school, groups: [group] });
  await make.grant({ app: clientId, school, groups: [group], signOn: { kind: "GROUPS", groups: [group] } });
  await make.signIn({ app: clientId, person: personId });
  await db.prisma.consent.create({ data: { personId, clientId, scopes: ["openid"], grantedAt: at } });
  await db.prisma.schoolChoice.create({ data: { personId, clientId, schoolId: school } });
  const usage = { clientId, schoolId: school, month: at };
  await db.prisma.seat.create({ data: { ...usage, change: "" } });
  await db.prisma.accessReport.create({
    data: { ...usage, id: randomUUID(), personId, reportedAt: at, isNewest: true, type: "SCHOOL", trial: false },
  });
  await db.prisma.appProfile.create({ data: { clientId } });
  const agreementId = randomUUID();
  await db.prisma.agreement.create({
    data: { id: agreementId, clientId, version: "1", text: "Terms", sha256: "0".repeat(64), bytes: 5, createdAt: at },
  });
  await db.prisma.agreementAcceptance.create({
    data: { id: randomUUID(), agreementId, clientId, schoolId: school, acceptedAt: at },
  });
  const merger = { id: randomUUID(), fromSchoolId: school, intoSchoolId: school, people: 0, groups: 0, apps: 1 };
  await db.prisma.schoolMerger.create({ data: { ...merger, mergedAt: at, undoUntil: at } });
  await db.prisma.mergedGrant.create({ data: { mergerId: merger.id, clientId, isNew: true, settings: {} } });
  await db.prisma.withheldItem.create({
    data: { clientId, item: "PERSON_NAME", schoolId: school, reason: "SCHOOL", since: at },
  });
  await db.prisma.withheldPeriod.create({
    data: { clientId, item: "PERSON_NAME", schoolId: school, reason: "SCHOOL", since: at },
  });
  await db.prisma.appLogo.create({
    data: { clientId, type: "image/png", hash: "0".repeat(32), bytes: new Uint8Array() },
  });
  await db.prisma.scopeRequest.create({
    data: { id: randomUUID(), clientId, scopes: ["openid"], reason: "Sign-on", requestedAt: at },
  });
  const seen = { clientId, requestId: "request", at };
  await db.prisma.apiRequest.create({
    data: { id: randomUUID(), ...seen, operationId: "getUser", status: 200, durationMs: 1 },
  });
  await db.prisma.signOnStep.create({
    data: { id: randomUUID(), ...seen, attempt: "attempt", step: "authorize", outcome: "done" },
  });
  await db.prisma.erasure.create({
    data: { id: randomUUID(), clientId, subjectId: personId, schoolId: school, cause: "deleted", since: at },
  });
  await db.prisma.lastCall.create({ data: { clientId, schoolId: school, at } });
  const sectors = { oldSector: randomUUID(), newSector: randomUUID() };
  await db.prisma.idMove.create({ data: { clientId, subjectType: "APP", ...sectors, startedAt: at } });
  for (const sector of Object.values(sectors))
    await db.prisma.pairwiseId.create({ data: { personId, recordId: personId, sector, id: randomUUID() } });
  await db.prisma.logoutNotice.create({
    data: { id: randomUUID(), clientId, personId, sid: "sid", nextAttemptAt: at, createdAt: at },
  });
  await db.prisma.staffRole.create({
    data: { id: randomUUID(), role: "PARTNER", clientId, givenAt: at, apps: { create: [{ clientId }] } },
  });
  await db.prisma.webhookEndpoint.create({
    data: {
      id: randomUUID(),
      clientId,
      url: "https://app.example/",
      eventTypes: ["person"],
      stateChangedAt: at,
      createdAt: at,
      updatedAt: at,
    },
  });
  for (const kind of ["AccessToken", "ClientCredentials", "RefreshToken"]) {
    await db.prisma.oidcArtifact.create({
      data: { kind, idHash: new Uint8Array(hashId(kind + clientId)), payload: {}, clientId, expiresAt: at },
    });
  }
  const sandbox = { clientId, restoreWindowDays: 30, finish: async () => undefined };
  await createSandbox(db, sandbox, { at });
  await insertEvents(db, at, [{ clientId }]);
  return clientId;
}

test("the ids of a sector are kept until its last app is deleted", async () => {
  const [sector, { clientId: first }, { clientId: last }] = [randomUUID(), await make.app(), await make.app()];
  const ofBoth = { clientId: { in: [first, last] } };
  await db.prisma.app.updateMany({ where: ofBoth, data: { subjectType: "PARTNER", sector } });
  const personId = await make.person({ school: await make.school() });
  await db.prisma.pairwiseId.create({ data: { personId, recordId: personId, sector, id: randomUUID() } });
  const countIds = () => db.prisma.pairwiseId.count({ where: { sector } });
  await remove(first);
  expect(await countIds()).toBe(1);
  await remove(last);
  expect(await countIds()).toBe(0);
});

test("a deletion that fails leaves the app as it was, and another one no row but those that are kept on purpose", async () => {
  const clientId = await makeFullApp();
  const before = await countRows(clientId);
  const empty = Object.entries(before).flatMap(([table, count]) => (count === 0 ? [table] : []));
  expect(empty, "tables that the test must fill").toEqual(["retired_client_id"]);
  const failing: ForgetApp = async (tx, id) => {
    await forgetAppWithSandboxes(tx, id);
    if ((await tx.query("SELECT FROM app WHERE client_id = $1", [id])).rowCount === 0) throw new Error("no");
  };
  await expect(remove(clientId, failing)).rejects.toThrow("no");
  expect(await countRows(clientId)).toEqual(before);

  await remove(clientId);
  const left = Object.entries(await countRows(clientId)).flatMap(([table, count]) => (count > 0 ? [table] : []));
  expect(left.sort()).toEqual(Object.keys(kept).sort());
  const { rows } = await db.pool.query(
    "SELECT FROM pairwise_id WHERE sector NOT IN (SELECT unnest(ARRAY[old_sector, new_sector]) FROM id_move)",
  );
  expect(rows).toEqual([]);
});

test("a large app is deleted without a time limit, by indexes, and stops no events of others", async () => {
  const [clientId, other] = [await makeFullApp(), await makeFullApp()];
  await db.pool.query(
    `INSERT INTO oidc_artifact (kind, id_hash, payload, client_id, expires_at)
     SELECT 'ClientCredentials', sha256(n::text::bytea), '{}', CASE WHEN n % 20 = 0 THEN $1 ELSE $2 END, $3::timestamptz FROM generate_series(1, 10000) n`,
    [clientId, other, at],
  );
  await db.pool.query("ANALYZE oidc_artifact");
  const others = await countRows(other);
  let limit = "";
  let placed = -1;
  let scanned: string[] = ["not asked"];
  await remove(clientId, async (tx, id) => {
    limit ||= (await tx.query<{ statement_timeout: string }>("SHOW statement_timeout")).rows[0]!.statement_timeout;
    const isFirst = placed < 0;
    if (isFirst) scanned = await forgetExplained(tx, id);
    await forgetAppWithSandboxes(tx, id);
    if (isFirst) {
      placed = await asOthers(async () => {
        await insertEvents(db, at, [{ clientId: other }]);
        return sequenceEvents(db);
      });
    }
  });
  expect([limit, scanned]).toEqual(["0", []]);
  expect(placed).toBeGreaterThan(0);
  others["app_event"]! += 1;
  expect(await countRows(other), "rows of the other app").toEqual(others);
});

/** Forgets sign-ons of the app; returns the tables that this read from end to end. */
async function forgetExplained(tx: Queryable, id: ClientId): Promise<string[]> {
  const scanned: string[] = [];
  let count = 0;
  const query = async (asked: { name: string; text: string; values: unknown[] }) => {
    const name = `explained_${++count}`;
    await tx.query(`PREPARE ${name} AS ${asked.text}`);
    scanned.push(...listScanned(await explainPrepared(tx, name, { values: asked.values, options: "COSTS" })));
    return tx.query(asked);
  };
  await forgetApp({ query } as unknown as Queryable, id);
  return scanned;
}
