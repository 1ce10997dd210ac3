import { hash } from "node:crypto";
import { expect, test } from "vitest";
import type { PersonId } from "../../../src/directory/index.ts";
import { addDays } from "../../../src/platform/clock.ts";
import { makeUuid } from "../../../src/platform/crypto/ids.ts";
import type { components } from "../../../generated/openapi/admin.ts";
import { makeStaff } from "../../support/admin.ts";
import { countRead, explainPrepared, recordQueries } from "../../support/explain.ts";
import { makeMakers } from "../../support/make.ts";
import { startService } from "../../support/service.ts";
import { getUserTokens, giveLogin } from "../../support/token.ts";
import { makeConnectionRow } from "../../support/upstream-rows.ts";
import { listTablesOfPeople } from "../../support/traces.ts";

type PersonData = components["schemas"]["PersonData"];

const service = await startService();
const { prisma } = service.db;
const make = makeMakers(service.db);
const school = await make.school();
const group = await make.group({ school });
const app = await make.app({ name: "Alpha" });
await make.grant({ app: app.clientId, school, groups: [group] });
const admin = await makeStaff(service, "SCHOOL_ADMIN", { schoolIds: [school] });
const at = service.clock();

/** Where the answer has what a table holds of a person. */
const answered: Record<string, (data: PersonData) => unknown> = {
  access_report: ({ accessReports }) => accessReports,
  affiliation: ({ person }) => person.schools,
  app_event: ({ events }) => events,
  audit: ({ audit }) => audit,
  consent: ({ consents }) => consents,
  data_request: ({ dataRequests }) => dataRequests,
  disclosure_period: ({ disclosures }) => disclosures.flatMap(({ periods }) => periods),
  credential: ({ login }) => [login?.username],
  login_card: ({ loginCards }) => loginCards,
  logout_notice: ({ logoutNotices }) => logoutNotices,
  membership: ({ person }) => person.groups,
  oidc_artifact: ({ sessions }) => sessions,
  person: ({ person }) => [person.name],
  password_request: ({ passwordRequests }) => passwordRequests,
  person_import: ({ imports }) => imports,
  picture_code: ({ pictureCodes }) => pictureCodes,
  recovery_code: ({ recoveryCodes }) => Array(recoveryCodes),
  retention_exemption: ({ exemption }) => [exemption?.reason],
  school_choice: ({ schoolChoices }) => schoolChoices,
  second_factor: ({ secondFactors }) => secondFactors,
  sign_in: ({ apps }) => apps.filter(({ lastSignInAt }) => lastSignInAt !== null),
  sign_in_brake: ({ failedTries }) => failedTries,
  sign_in_place: ({ knownDevices }) => knownDevices,
  staff_role: ({ staffRoles }) => staffRoles,
  upstream_link: ({ upstreamAccounts }) => upstreamAccounts,
  user_name: ({ userNames }) => Array(userNames),
  webhook_delivery: ({ deliveries }) => deliveries,
  wrong_password: ({ failedTries }) => failedTries.filter(({ at: lastAt }) => lastAt !== null),
};

/** What is of a person and not in the answer. */
const leftOut: Record<string, string> = {
  announced_sign_in: "hashes of what an app saw, for the minutes of a change",
  credential_batch_person:
    "a password or card that is prepared, encrypted, for the day until it is fetched; the audit log says that it was",
  merged_person:
    "where the person came from when two schools became one, for 30 days; the audit log says that they moved",
  handover_person: "an offer to another school, until it is answered; the audit log says that the person moved",
  import_change: "the person before and after an import, for the days of its undo; `imports` says what changed",
  pairwise_id: "random numbers in place of the id of the person, by which an app knows them",
  tombstone: "of people who were deleted for good, about whom nothing is stored",
  upstream_recent_sign_in: "what the school's own login sent, encrypted, for 30 days; that login says it itself",
  upstream_session: "which of `sessions` depend on a sign-in at the school's own login",
  void_sign_in: "that sign-ins of the person are void, for the seconds until a job deletes them",
};

async function makeKnownPerson(): Promise<PersonId> {
  const personId = await make.person({ school, groups: [group] });
  await getUserTokens(service, app, await giveLogin(service.db, personId), { scopes: ["openid", "profile"] });
  const [bytes, id] = [new Uint8Array(hash("sha256", personId, "buffer")), () => makeUuid(at)];
  const { clientId } = app;
  await prisma.schoolChoice.create({ data: { personId, clientId, schoolId: school } });
  const reported = { personId, clientId, schoolId: school, month: at, reportedAt: at, isNewest: true };
  await prisma.accessReport.create({ data: { ...reported, id: id(), type: "SCHOOL", trial: true } });
  await prisma.signInLimit.create({ data: { key: bytes, failures: 2, waitUntil: at, forgetAt: at, personId } });
  await prisma.wrongPassword.create({ data: { key: bytes, hour: at, personId, tries: 3, lastAt: at } });
  await prisma.logoutNotice.create({
    data: { id: id(), clientId, personId, sid: "sid-of-a-session", nextAttemptAt: at, createdAt: at },
  });
  const factor = { personId, kind: "TOTP" as const, secret: bytes, transports: [], createdAt: at };
  await prisma.secondFactor.createMany({
    data: [
      { ...factor, id: id(), label: "My phone" },
      { ...factor, id: id(), label: "My tablet", createdAt: addDays(at, 1), lastUsedAt: addDays(at, 2) },
    ],
  });
  await prisma.pictureCode.create({ data: { personId, schoolId: school, hash: bytes, chosenAt: at } });
  await prisma.recoveryCode.create({ data: { personId, hash: bytes } });
  await prisma.loginCard.create({
    data: { id: id(), personId, schoolId: school, tokenHash: bytes, secondStep: "NONE", createdAt: at },
  });
  const connectionId = await makeConnectionRow(service.db, { school, at });
  const link = { connectionId, issuer: "https://iserv.example", subject: personId, personId };
  await prisma.upstreamLink.create({ data: { ...link, linkedAt: at, linkedBy: "RULE" } });
  await prisma.retentionExemption.create({ data: { personId, until: at, reason: "Examination.", givenAt: at } });
  await prisma.dataRequest.create({
    data: { id: id(), personId, schoolId: school, askedBy: "PERSON", receivedOn: at, dueOn: at },
  });
  await prisma.passwordRequest.create({ data: { personId, schoolId: school, requestedAt: at } });
  await prisma.staffRole.create({
    data: { id: id(), personId, role: "SECRETARY", givenAt: at, schools: { create: { schoolId: school } } },
  });
  const classes = { classesBefore: ["5a"], classesAfter: ["6a"] };
  await prisma.personImport.create({
    data: { id: id(), at, personId, schoolId: school, importId: id(), change: "CLASSES", ...classes },
  });
  const endpointId = id();
  await prisma.webhookEndpoint.create({
    data: {
      id: endpointId,
      clientId,
      url: "https://a.example/",
      eventTypes: ["person"],
      stateChangedAt: at,
      createdAt: at,
      updatedAt: at,
    },
  });
  const delivery = { endpointId, eventType: "person", subjectId: personId, body: "a body", createdAt: at };
  await prisma.webhookDelivery.create({ data: { ...delivery, messageId: id() } });
  return personId;
}

test("every table that holds something of a person is in the answer", async () => {
  const tables = [...(await listTablesOfPeople(service.db)), "app_event", "webhook_delivery"];
  expect(Object.keys({ ...answered, ...leftOut }).sort()).toEqual([...new Set(tables)].sort());
  const personId = await makeKnownPerson();
  const { status, body, headers } = await admin.call("GET", `/people/${personId}/data`);
  expect([status, headers.get("etag")]).toEqual([200, expect.stringMatching(/^"/)]);
  for (const [table, read] of Object.entries(answered))
    expect([table, (read(body as PersonData) as unknown[]).length > 0]).toEqual([table, true]);
  const { isComplete, login, secondFactors, apps, audit } = body as PersonData;
  expect([isComplete, login?.username]).toEqual([true, `user-${personId}`]);
  expect(secondFactors).toMatchObject([
    { what: "TOTP My phone", at: at.toISOString(), lastUsedAt: null },
    { what: "TOTP My tablet", at: addDays(at, 1).toISOString(), lastUsedAt: addDays(at, 2).toISOString() },
  ]);
  expect(apps).toMatchObject([{ clientId: app.clientId, consent: { scopes: ["openid", "profile"] } }]);
  expect(audit.map(({ action }) => action)).toContain("consent_given");

  const { passwordHash } = await prisma.credential.findUniqueOrThrow({ where: { personId } });
  const digest = hash("sha256", personId, "buffer");
  for (const secret of [passwordHash!, digest.toString("hex"), digest.toString("base64url"), "a body"])
    expect(JSON.stringify(body)).not.toContain(secret);
  expect(
    await prisma.audit.findMany({ where: { personId, action: "person_data_read" }, orderBy: { id: "asc" } }),
  ).toMatchObject([{ actorId: `app:${admin.app.clientId}`, actorRole: "SCHOOL_ADMIN" }]);
});

test("what is of a school that the caller does not reach is left out, and the answer says so", async () => {
  const other = await make.school({ name: "Far away" });
  const elsewhere = await make.group({ school: other });
  await make.grant({ app: app.clientId, school: other, groups: [elsewhere] });
  const personId = await make.person({ schools: [school, other], groups: [elsewhere] });
  await prisma.audit.create({
    data: { id: makeUuid(at), at, action: "person_seen_there", personId, schoolId: other },
  });
  const ask = async ({ call }: typeof admin) => (await call("GET", `/people/${personId}/data`)).body as PersonData;
  const part = await ask(admin);
  expect([part.isComplete, part.person.schools.length, part.person.groups]).toEqual([false, 1, []]);
  for (const hidden of ["Far away", elsewhere, "person_seen_there"]) expect(JSON.stringify(part)).not.toContain(hidden);
  const whole = await ask(await makeStaff(service, "OPERATOR"));
  expect([whole.isComplete, whole.person.schools.length]).toEqual([true, 2]);
  expect(whole.audit.map(({ action }) => action)).toContain("person_seen_there");
});

test("the answer says in which role staff acted, and not who they are; who acted themselves is named", async () => {
  const name = { firstFull: "Zacharias", firstCall: "Zacharias", last: "Zöllner" };
  const [personId, staffId] = [await make.person({ school }), await make.person({ school, name })];
  const role = { actorRole: "SECRETARY", schoolId: school, personId, at };
  const lines = [
    { ...role, id: makeUuid(at), action: "person_updated", actorId: `person:${staffId}` },
    { ...role, id: makeUuid(at), action: "consent_given", actorId: `person:${personId}`, actorRole: null },
  ];
  await prisma.audit.createMany({ data: lines });
  const closed = { closedAt: at, closedById: staffId, closedRole: "SECRETARY" as const, outcome: "ANSWERED" as const };
  const asked = { personId, schoolId: school, askedBy: "PERSON", receivedOn: at, dueOn: at } as const;
  await prisma.dataRequest.create({ data: { id: makeUuid(at), ...asked, ...closed } });
  const { audit, ...data } = (await admin.call("GET", `/people/${personId}/data`)).body as PersonData;
  for (const value of [staffId, "Zacharias", "Zöllner"]) expect(JSON.stringify({ audit, data })).not.toContain(value);
  expect(data.dataRequests[0]!.closedBy).toEqual({ role: "SECRETARY", name: null });
  const actors = audit.map(({ action, actor, names }) => [action, actor.role, names.actor?.last ?? null]);
  expect(actors).toContainEqual(["person_updated", "SECRETARY", null]);
  expect(actors).toContainEqual(["consent_given", "NONE", data.person.name!.last]);
});

test("neither the events of apps nor the audit log nor the deliveries are read from end to end", async () => {
  const personId = await makeKnownPerson();
  const { pool } = service.db;
  await pool.query(
    `INSERT INTO app_event (id, at, client_id, type, action, subject_id, updated_properties)
     SELECT gen_random_uuid(), now(), $1, 'person', 'create', gen_random_uuid(), '{}' FROM generate_series(1, 5000)`,
    [app.clientId],
  );
  await pool.query(
    `INSERT INTO audit (id, at, action, actor_id, person_id)
     SELECT gen_random_uuid(), now() - n * interval '1 second', 'signed_in', 'app:another', gen_random_uuid()
     FROM generate_series(1, 5000) AS n`,
  );
  await pool.query(
    `INSERT INTO webhook_delivery (message_id, endpoint_id, event_type, subject_id, body, created_at)
     SELECT gen_random_uuid(), id, 'person', gen_random_uuid(), '{}', now()
     FROM (SELECT id FROM webhook_endpoint LIMIT 1) one, generate_series(1, 5000)`,
  );
  await pool.query("ANALYZE app_event, audit, webhook_delivery");
  const matching = /^\s*SELECT[^]*FROM ("public"\.)?"?(app_event|audit|webhook_delivery)\b/;
  const seen = await recordQueries(matching, async () => {
    expect((await admin.call("GET", `/people/${personId}/data`)).status).toBe(200);
  });
  expect(seen).toHaveLength(4);
  const client = await pool.connect();
  try {
    for (const [n, { text, values }] of seen.entries()) {
      await client.query(`PREPARE asked_${n} AS ${text}`);
      const plan = await explainPrepared(client, `asked_${n}`, { values, options: "ANALYZE" });
      expect([text, countRead(plan) < 500]).toEqual([text, true]);
    }
  } finally {
    client.release(true);
  }
});
