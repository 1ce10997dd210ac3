import { expect, test } from "vitest";
import type { SchoolId } from "../../src/directory/index.ts";
import { makeStaff } from "../support/admin.ts";
import { makeBrowser } from "../support/browser.ts";
import { makeMakers } from "../support/make.ts";
import { makePortalUser, signIn } from "../support/portal.ts";
import { startService } from "../support/service.ts";
import { issueAppToken, type TestApp } from "../support/token.ts";
import { makeMatrixWorld } from "./matrix-world.ts";

// What the pages say that an app can read of a school, beside what the app gets with its own token.

const service = await startService();
const make = makeMakers(service.db, service.clock());
const world = await makeMatrixWorld(make, "SHARED");
const { schools, apps } = world;
const readers: Record<string, TestApp> = { ...apps, ...(await makeNarrowApps()) };
const admin = await makePortalUser(service, "SCHOOL_ADMIN", { schoolIds: Object.values(schools) });
const english = makeBrowser(service.url, { "accept-language": "en" });
await signIn(english, admin);
const staff = await makeStaff(service, "OPERATOR");

/** Apps with one scope each at a school that releases a class and lets everybody in. */
async function makeNarrowApps() {
  const narrow = ["users:read", "people:read", "groups:read", "schools:read"] as const;
  const made: Record<string, TestApp> = {};
  for (const scope of narrow) {
    made[scope] = await make.app({ scopes: ["openid", scope] });
    await make.grant({ app: made[scope].clientId, school: schools["north"]!, groups: [world.groups["n-class"]!] });
  }
  // Whoever signed in is read one by one, though the school releases nothing.
  made["no sync"] = await make.app({ scopes: ["openid", "users:read"] });
  await make.grant({ app: made["no sync"].clientId, school: schools["north"]!, sync: false });
  await make.signIn({ app: made["no sync"].clientId, person: world.people["n-pupil"]! });
  made["public"] = await make.app({ type: "PUBLIC", scopes: ["openid", "people:read", "users:read"] });
  await make.grant({ app: made["public"].clientId, school: schools["north"]!, groups: [world.groups["n-class"]!] });
  return made;
}

type Reads = { school: boolean; groups: string[] } & Record<"people" | "otherPeople" | "users" | "otherUsers", number>;

const scopes = ["schools:read", "groups:read", "people:read", "users:read"] as const;

/** What the app gets of the school and everybody who is at it. */
async function readAll(app: TestApp, school: SchoolId): Promise<Reads> {
  const { scopes: held, type } = await service.db.prisma.app.findUniqueOrThrow({ where: { clientId: app.clientId } });
  const own = scopes.filter((scope) => held.includes(scope));
  const token = type === "PUBLIC" ? "none" : await issueAppToken(service, app, own);
  const get = async (path: string) => {
    const answer = await fetch(service.url + path, { headers: { authorization: `Bearer ${token}` } });
    return answer.status === 200 ? ((await answer.json()) as unknown) : null;
  };
  const list = async (path: string) => {
    const found = (await get(path)) as
      { data?: { id: string; name: string }[] } | { id: string; name: string }[] | null;
    return found === null
      ? []
      : Array.isArray(found)
        ? found
        : (found.data ?? (Object.values(found).flat() as never[]));
  };
  const at = `/idm/ep/v1/schools/${school}`;
  const [groups, people, users] = [await list(`${at}/groups`), await list(`${at}/people`), await list(`${at}/users`)];
  const everybody = await service.db.prisma.affiliation.findMany({ where: { schoolId: school } });
  const all = JSON.stringify(await get("/idm/schulconnex/v1/personen-info"));
  const ofOthers = async (kind: "people" | "users", listed: { id: string }[], isElsewhere: (id: string) => boolean) => {
    const others = everybody.filter((one) => !listed.some(({ id }) => id === one.personId));
    const isRead = await Promise.all(
      others.map(
        async ({ personId }) => isElsewhere(personId) || (await get(`/idm/ep/v1/${kind}/${personId}`)) !== null,
      ),
    );
    return isRead.filter(Boolean).length;
  };
  return {
    school: (await get(at)) !== null,
    groups: groups.map(({ name }) => name),
    people: people.length,
    otherPeople: await ofOthers("people", people, (id) => all.includes(id)),
    users: users.length,
    otherUsers: await ofOthers("users", users, () => false),
  };
}

/** The sentences of the pages, in English. */
function say({ school, groups, people, otherPeople, users, otherUsers }: Reads): string[] {
  const names = new Intl.ListFormat("en").format(groups);
  const [ofGroups, those] = [
    groups.length === 1
      ? `the group ${names} with its members`
      : `${groups.length} groups with their members: ${names}`,
    "The app can read",
  ];
  const count = (number: number, more = "") => `${number}${more} ${number === 1 ? "person" : "people"}`;
  const said = [
    school && `${those} the school's details.`,
    groups.length > 0 && `${those} ${ofGroups}.`,
    people > 0 && `${those} ${count(people)} of the released groups.`,
    otherPeople > 0 &&
      `${those} ${count(otherPeople, " more")}, because another school releases them, or because they were deleted and can be restored.`,
    users > 0 && `${those} ${count(users)} whom a grant lets sign in to it in a list.`,
    otherUsers > 0 &&
      `${those} ${count(otherUsers, " more")} one by one, because they have signed in to it, because another school lets them, or because they were deleted and can be restored.`,
  ].filter((line) => line !== false);
  return said.length > 0 ? said : ["By itself, the app can read nothing of the school."];
}

const sentences = (html: string) =>
  [...html.replaceAll("&#39;", "'").matchAll(/(?:The app can read|By itself, the app can read nothing)[^<]*/g)].map(
    ([text]) => text.trim(),
  );

test.each(Object.entries(schools))("what pages say that an app can read is what it gets, at %s", async (_, school) => {
  const [said, real]: Record<string, unknown>[] = [{}, {}];
  const record = (await english.open(`/admin/schools/${school}/privacy`)).html;
  const { body } = await staff.call("GET", `/schools/${school}/processing-record`);
  const activities = (body as { activities: { code: string; reads: Reads }[] }).activities;
  for (const [name, app] of Object.entries(readers)) {
    const reads = await readAll(app, school);
    const catalogue = (await staff.call("GET", `/schools/${school}/catalogue/${app.clientId}`)).body as {
      reads: Reads;
    };
    const page = sentences((await english.open(`/admin/schools/${school}/apps/${app.clientId}`)).html);
    const inRecord = activities.find(({ code }) => code === app.clientId);
    real![name] = { reads, page: say(reads), record: inRecord && reads, written: [] };
    said![name] = {
      reads: catalogue.reads,
      page,
      record: inRecord?.reads,
      written: inRecord === undefined ? [] : say(reads).filter((line) => !sentences(record).includes(line)),
    };
  }
  expect(said).toEqual(real);
});

test("an app that is in no record of a school gets nothing of its people", async () => {
  for (const school of Object.values(schools)) {
    const { body } = await staff.call("GET", `/schools/${school}/processing-record`);
    const named = (body as { activities: { code: string }[] }).activities.map(({ code }) => code);
    for (const app of Object.values(readers).filter(({ clientId }) => !named.includes(clientId)))
      expect(say(await readAll(app, school))).toEqual(["By itself, the app can read nothing of the school."]);
  }
});

test("whom an app reads as a person is in a released group, and as a user may sign in or has done so", async () => {
  const { prisma } = service.db;
  for (const app of Object.values(apps)) {
    const token = await issueAppToken(service, app, ["people:read", "users:read"]);
    const isRead = async (path: string) =>
      (await fetch(service.url + path, { headers: { authorization: `Bearer ${token}` } })).status === 200;
    const right = { clientId: app.clientId };
    const grants = await prisma.grant.findMany({ where: right, include: { syncedGroups: true } });
    const signIns = await prisma.signIn.findMany({ where: right });
    for (const [name, personId] of Object.entries(world.people)) {
      const groups = await prisma.membership.findMany({ where: { personId, group: { status: "ACTIVE" } } });
      const released = grants.flatMap(({ sync, syncedGroups }) =>
        sync ? syncedGroups.map(({ groupId }) => groupId) : [],
      );
      const isInGroup = groups.some(({ groupId }) => released.includes(groupId));
      if (await isRead(`/idm/ep/v1/people/${personId}`)) expect(isInGroup, `${app.clientId} ${name}`).toBe(true);
      if (!(await isRead(`/idm/ep/v1/users/${personId}`))) continue;
      const { body } = await staff.call("GET", `/people/${personId}/apps`);
      const mine = (body as { maySignIn: boolean; clientId: string }[]).find(
        ({ clientId }) => clientId === app.clientId,
      );
      const { status, blockedAt } = await prisma.person.findUniqueOrThrow({ where: { id: personId } });
      const isStopped = status === "SOFT_DELETED" || blockedAt !== null;
      const hasSignedIn = signIns.some((one) => one.personId === personId);
      expect(hasSignedIn || isStopped || mine?.maySignIn, `${app.clientId} ${name}`).toBe(true);
    }
  }
});
