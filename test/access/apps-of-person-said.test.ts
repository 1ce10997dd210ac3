import { expect, test } from "vitest";
import type { PersonId } from "../../src/directory/index.ts";
import { makeStaff } from "../support/admin.ts";
import { makeMakers } from "../support/make.ts";
import { startService } from "../support/service.ts";
import { issueAppToken, type TestApp } from "../support/token.ts";
import { makeMatrixWorld } from "./matrix-world.ts";

// What My account and the letter with a person's data say that each app gets of them, beside what the app gets with its
// own token. What it gets at a sign-on is in consent-said.test.ts.

const service = await startService();
const { prisma } = service.db;
const make = makeMakers(service.db, service.clock());
const world = await makeMatrixWorld(make, "SHARED");
const { call } = await makeStaff(service, "OPERATOR");

type Said = { clientId: string; maySignIn: boolean; attributes: string[] };
type Answer = Partial<Record<"name" | "role" | "status" | "sourceSystemIdentifier", unknown>> & { groups?: object[] };

const apis = ["users:read", "people:read", "groups:read", "schools:read"] as const;

const readers: Record<string, TestApp> = { ...world.apps };
for (const scope of apis) {
  readers[scope] = await make.app({ scopes: [scope] });
  const released = { school: world.schools["north"]!, groups: [world.groups["n-class"]!] };
  await make.grant({ app: readers[scope].clientId, ...released });
}

type Get = <T>(path: string) => Promise<T | null>;

/** Reads as an app, each address once; null for an app that cannot have a token of its own. */
async function makeReader(app: TestApp): Promise<Get | null> {
  const { scopes, type } = await prisma.app.findUniqueOrThrow({ where: { clientId: app.clientId } });
  if (type === "PUBLIC") return null;
  const readable = apis.filter((scope) => scopes.includes(scope));
  const headers = { authorization: `Bearer ${await issueAppToken(service, app, readable)}` };
  const answers = new Map<string, unknown>();
  return async <T>(path: string) => {
    if (!answers.has(path)) {
      const answer = await fetch(`${service.url}/idm/ep/v1${path}`, { headers });
      answers.set(path, answer.status === 200 ? await answer.json() : null);
    }
    return answers.get(path) as T | null;
  };
}

/** The attributes in all answers that name the person. */
async function readAttributes(get: Get | null, personId: PersonId): Promise<string[]> {
  if (get === null) return [];
  const found: Answer[] = [];
  for (const kind of ["users", "people"]) found.push((await get<Answer>(`/${kind}/${personId}`)) ?? {});
  const attributes = new Set<string>();
  const schools = await prisma.affiliation.findMany({ where: { personId } });
  for (const { schoolId } of schools) {
    type Listed = Answer & { id: string };
    for (const kind of ["users", "people", "people?show-deleted=true"]) {
      const listed = (await get<Listed[]>(`/schools/${schoolId}/${kind}`))?.find(({ id }) => id === personId);
      if (listed !== undefined) attributes.add("schools");
      found.push(listed ?? {});
    }
    for (const group of (await get<{ id: string }[]>(`/schools/${schoolId}/groups`)) ?? []) {
      const whole = await get<{ members: Listed[] }>(`/groups/${group.id}`);
      const member = whole?.members.find(({ id }) => id === personId);
      if (member !== undefined) for (const name of ["groups", "schools"]) attributes.add(name);
      found.push(member ?? {});
    }
  }
  for (const { groups = [], ...answer } of found) {
    if (groups.length > 0) attributes.add("groups");
    for (const [name, value] of Object.entries(answer))
      if (value !== null && ["name", "role", "status", "sourceSystemIdentifier"].includes(name)) attributes.add(name);
  }
  return [...attributes].sort();
}

test("every attribute that an app gets is said, and of an app without sign-on no other", async () => {
  const wrong: unknown[] = [];
  let compared = 0;
  const getters = new Map<string, Get | null>();
  for (const [which, app] of Object.entries(readers)) getters.set(which, await makeReader(app));
  for (const [who, personId] of Object.entries(world.people)) {
    const { last, sourceSystemIdentifier: number } = await prisma.person.findUniqueOrThrow({ where: { id: personId } });
    const lacking = [...(last === null ? ["name"] : []), ...(number === null ? ["sourceSystemIdentifier"] : [])];
    const said = (await call("GET", `/people/${personId}/apps`)).body as Said[];
    for (const [which, app] of Object.entries(readers)) {
      const of = said.find(({ clientId }) => clientId === app.clientId);
      const [told, got] = [of?.attributes.toSorted() ?? [], await readAttributes(getters.get(which)!, personId)];
      const unsaid = got.filter((name) => !told.includes(name));
      const unread = told.filter((name) => !got.includes(name) && !lacking.includes(name));
      const untrue = of?.maySignIn === true ? [] : unread;
      if (got.length > 0) compared += 1;
      if (unsaid.length + untrue.length > 0) wrong.push([who, which, { unsaid, untrue, told, got }]);
    }
  }
  expect(compared).toBeGreaterThan(30);
  expect(wrong).toEqual([]);
});
