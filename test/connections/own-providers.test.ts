import { expect, test } from "vitest";
import type { SchoolId } from "../../src/directory/index.ts";
import { makeStaff, type AdminClient } from "../support/admin.ts";
import { schulconnex } from "../support/api.ts";
import { allScopes, makeMakers } from "../support/make.ts";
import { startSource } from "../support/roster-source.ts";
import { startService } from "../support/service.ts";

// The service's own APIs as the source: what an app sees of one school becomes the roster of another.

const service = await startService({ env: { WEBHOOK_ALLOW_PRIVATE_ADDRESSES: "true" } });
const { db } = service;
const make = makeMakers(db);
const personInfo = `${schulconnex}/personen-info`;

type Run = { outcome: string; failure: string; detail: string | null; counts: Record<string, number> };

let schools = 0;
/** A school with a class, a course, a group, two teachers and pupils, and an app that sees it. */
async function makeProvider(pupils: number) {
  const officialId = `DE-OWN-${++schools}`;
  const school = await make.school({ officialId });
  const homeroom = await make.group({ school, name: "5a" });
  const course = await make.group({ school, name: "Mathe", type: "KURS" });
  const club = await make.group({ school, name: "Schach", type: "SONSTIG" });
  const groups = [homeroom, course, club];
  await make.person({ school, role: "TEACHER", groups });
  await make.person({ school, role: "TEACHER", groups: [club] });
  await make.people({ school, count: pupils, groups, groupsEach: 2 });
  const app = await make.app({ scopes: [...allScopes, "oneroster:read"] });
  await make.grant({ app: app.clientId, school, groups });
  return { school, officialId, app };
}

async function makeConnection(
  source: Awaited<ReturnType<typeof makeProvider>>,
  given: { kind: string; address: string },
) {
  const school = await make.school();
  const { call } = await makeStaff(service, "SCHOOL_ADMIN", { schoolIds: [school] });
  const body = {
    name: "Own",
    schoolIds: [school],
    applies: "UNLESS_HELD",
    sourceSchool: source.officialId,
    tokenAddress: `${service.url}/oauth2/token`,
    clientId: source.app.clientId,
    secret: source.app.clientSecret,
    ...given,
  };
  const sent = await call("POST", "/roster-connections", { body });
  expect(sent.status, JSON.stringify(sent.body)).toBe(201);
  return { school, call, id: (sent.body as { id: string }).id };
}

const runNow = async (call: AdminClient, id: string) =>
  (await call("POST", `/roster-connections/${id}/runs`)).body as Run;

/** Each person with role and groups, without ids. */
async function listPeople(school: SchoolId): Promise<string[]> {
  const people = await db.prisma.person.findMany({
    where: { homeSchoolId: school, status: "ACTIVE" },
    orderBy: { id: "asc" },
    include: { affiliations: { include: { memberships: { include: { group: true } } } } },
  });
  return people
    .map(({ firstFull, last, role, affiliations }) => {
      const groups = affiliations
        .flatMap(({ memberships }) => memberships)
        .map(({ role: inGroup, group }) => `${group.type} ${group.name} as ${inGroup}`);
      return [`${firstFull} ${last} ${role}`, ...groups.toSorted()].join(", ");
    })
    .toSorted();
}

const ownSources: Record<string, [kind: string, path: string]> = {
  "Schulconnex in one page": ["SCHULCONNEX", personInfo],
  "OneRoster 1.2": ["ONEROSTER", "/ims/oneroster/rostering/v1p2"],
  "OneRoster 1.1": ["ONEROSTER", "/ims/oneroster/v1p1"],
};

async function expectCopied(
  source: Awaited<ReturnType<typeof makeProvider>>,
  given: { kind: string; address: string },
) {
  const { school, call, id } = await makeConnection(source, given);
  const shown = await listPeople(source.school);
  expect(await runNow(call, id)).toMatchObject({
    outcome: "APPLIED",
    failure: "NONE",
    counts: { peopleCreated: shown.length, groupsCreated: 3 },
  });
  expect(await listPeople(school)).toEqual(shown);
  expect(await runNow(call, id)).toMatchObject({ outcome: "UNCHANGED", counts: { peopleChanged: 0, leavers: 0 } });
  const gone = await db.prisma.person.findFirstOrThrow({
    where: { homeSchoolId: source.school, role: "STUDENT" },
    orderBy: { id: "asc" },
  });
  await db.prisma.person.update({ where: { id: gone.id }, data: { last: "Neumann-Süß" } });
  expect(await runNow(call, id)).toMatchObject({ outcome: "APPLIED", counts: { peopleChanged: 1, peopleCreated: 0 } });
  expect(await listPeople(school)).toEqual(await listPeople(source.school));
}

for (const [what, [kind, path]] of Object.entries(ownSources))
  test(`${what} of this service is imported as it is, without a difference the second time`, async () => {
    await expectCopied(await makeProvider(25), { kind, address: service.url + path });
  });

test("Schulconnex of this service is read page by page, and whole where the provider has no pages", async () => {
  const source = await makeProvider(1100);
  const asked: string[] = [];
  let refusesPages = false;
  const relay = await startSource({
    [personInfo]: (req, res, url) => {
      asked.push(url.searchParams.get("limit") ?? "whole");
      if (refusesPages && url.searchParams.has("limit")) return res.writeHead(400).end();
      return void fetch(service.url + req.url!, { headers: { authorization: req.headers.authorization! } }).then(
        async (answer) => {
          const challenge = answer.headers.get("www-authenticate");
          res.writeHead(answer.status, challenge === null ? {} : { "www-authenticate": challenge });
          res.end(Buffer.from(await answer.arrayBuffer()));
        },
      );
    },
  });
  const { school, call, id } = await makeConnection(source, {
    kind: "SCHULCONNEX",
    address: relay.address + personInfo,
  });
  expect(await runNow(call, id)).toMatchObject({ outcome: "APPLIED", counts: { peopleCreated: 1102 } });
  expect(asked).toEqual(["1000", "1000", "1000"]);
  expect(await listPeople(school)).toEqual(await listPeople(source.school));
  expect(await runNow(call, id)).toMatchObject({ outcome: "UNCHANGED" });
  refusesPages = true;
  asked.length = 0;
  expect(await runNow(call, id)).toMatchObject({ outcome: "UNCHANGED" });
  expect(asked).toEqual(["1000", "whole", "whole"]);
});

test("OneRoster of this service is read over several pages", async () => {
  const source = await makeProvider(600);
  const address = `${service.url}/ims/oneroster/rostering/v1p2`;
  const { school, call, id } = await makeConnection(source, { kind: "ONEROSTER", address });
  expect(await runNow(call, id)).toMatchObject({ outcome: "APPLIED", counts: { peopleCreated: 602 } });
  expect(await listPeople(school)).toEqual(await listPeople(source.school));
  expect(await runNow(call, id)).toMatchObject({ outcome: "UNCHANGED" });
});

test("an app that lost its secret, or its grant, imports nothing", async () => {
  const source = await makeProvider(5);
  const given = { kind: "ONEROSTER", address: `${service.url}/ims/oneroster/rostering/v1p2` };
  const wrong = { ...source, app: { ...source.app, clientSecret: "not-the-secret" } };
  const refused = await makeConnection(wrong, given);
  expect(await runNow(refused.call, refused.id)).toMatchObject({ outcome: "FAILED", failure: "REFUSED_CREDENTIALS" });
  const connected = await makeConnection(source, given);
  expect(await runNow(connected.call, connected.id)).toMatchObject({ outcome: "APPLIED" });
  await make.grant({ app: source.app.clientId, school: source.school, sync: false });
  expect(await runNow(connected.call, connected.id)).toMatchObject({ outcome: "FAILED", failure: "OTHER_SCHOOL" });
  expect(await listPeople(connected.school)).toHaveLength(7);
});
