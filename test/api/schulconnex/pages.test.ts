import fc from "fast-check";
import { expect, test } from "vitest";
import { changeDirectory, type ClientId } from "../../../src/access/index.ts";
import { deletePerson, softDeletePerson, updatePerson, type PersonId } from "../../../src/directory/index.ts";
import { AppError } from "../../../src/platform/errors.ts";
import { act, deed, signIn, type World } from "../../access/events-world.ts";
import { makeReader, schulconnex, type Reader } from "../../support/api.ts";
import { makeMakers } from "../../support/make.ts";
import { startService } from "../../support/service.ts";
import { issueAppToken, type TestApp } from "../../support/token.ts";
import { walks, walkTimeoutMs } from "../../support/walks.ts";

const path = `${schulconnex}/personen-info`;
const origin = { at: new Date("2026-02-03T08:00:00Z"), actorId: "test" };
const service = await startService();
const make = makeMakers(service.db);
const kinds = ["SHARED", "APP"] as const;

type Change = Parameters<typeof changeDirectory<unknown>>[2];
const change = (work: Change) => changeDirectory(service.db, origin, work);
const readerOf = async (app: TestApp) => makeReader(service, await issueAppToken(service, app, ["people:read"]));

/** An app that sees some people of a school, by their pids in the order of pages. */
async function makeWorld(subjectType: (typeof kinds)[number], count = 7, attributes?: []) {
  const app = await make.app({ subjectType, ...(attributes && { attributes }) });
  const school = await make.school();
  const group = await make.group({ school });
  const people: PersonId[] = [];
  for (let n = 0; n < count; n++) people.push(await make.person({ school, groups: [group] }));
  await make.grant({ app: app.clientId, school, groups: [group] });
  const read = await readerOf(app);
  return { app, school, group, people, read, pids: (await pidsOf(read)).toSorted() };
}

type Read = { status: number; pids: string[]; subcode: string; headers: Headers };

async function ask(read: Reader, query = "", headers?: Record<string, string>): Promise<Read> {
  const answer = await read(`${path}${query}`, headers);
  const pids = Array.isArray(answer.body) ? (answer.body as { pid: string }[]).map(({ pid }) => pid) : [];
  const { code = "", subcode = "" } = (answer.body ?? {}) as { code?: string; subcode?: string };
  return { status: answer.status, pids, subcode: `${code}/${subcode}`, headers: answer.headers };
}

const pidsOf = async (read: Reader, query = ""): Promise<string[]> => (await ask(read, query)).pids;

async function walk(read: Reader, limit: number, more = "", between: () => Promise<unknown> = async () => undefined) {
  const pages: string[][] = [];
  for (let last: string | undefined; ; last = pages.at(-1)!.at(-1)!) {
    const { status, pids } = await ask(
      read,
      `?limit=${String(limit)}${last === undefined ? "" : `&offset=${last}`}${more}`,
    );
    expect(status).toBe(200);
    pages.push(pids);
    if (pids.length < limit) return pages;
    await between();
  }
}

test.each(kinds)("pages are the whole list, in the order of pids (%s)", async (kind) => {
  const { read, pids } = await makeWorld(kind);
  expect(await walk(read, 3)).toEqual([pids.slice(0, 3), pids.slice(3, 6), pids.slice(6)]);
  expect(await walk(read, 7)).toEqual([pids, []]);
  expect(await walk(read, 1000)).toEqual([pids]);
  expect(await pidsOf(read, `?offset=${pids[2]!}`)).toEqual(pids.slice(3));
  expect(await pidsOf(read, `?offset=${pids[2]!.toUpperCase()}`)).toEqual(pids.slice(3));
  expect(await pidsOf(read, `?offset=${pids.at(-1)!}`)).toEqual([]);
});

test.each(kinds)("pages take every filter and the parts of records (%s)", async (kind) => {
  const { read, pids, school, group } = await makeWorld(kind);
  const [first] = (await read(`${path}?pid=${pids[3]!}`)).body as { personenkontexte: { id: string }[] }[];
  const [only, before] = [pids[3]!, pids[2]!];
  for (const filter of [`pid=${only}`, `personenkontext.id=${first!.personenkontexte[0]!.id}`]) {
    expect(await pidsOf(read, `?${filter}&limit=1`), filter).toEqual([only]);
    expect(await pidsOf(read, `?${filter}&offset=${before}`), filter).toEqual([only]);
    expect(await pidsOf(read, `?${filter}&offset=${only}&limit=5`), filter).toEqual([]);
  }
  for (const filter of [`gruppe.id=${group}`, `organisation.id=${school}`])
    expect((await walk(read, 3, `&${filter}`)).flat(), filter).toEqual(pids);
  const { body } = await read(`${path}?limit=1&vollstaendig=personen`);
  expect(Object.keys((body as { personenkontexte: object[] }[])[0]!.personenkontexte[0]!)).not.toContain("gruppen");
});

test("an app that may not read names has the same pages", async () => {
  const { read, pids } = await makeWorld("APP", 5, []);
  expect((await walk(read, 2)).flat()).toEqual(pids);
});

test.each(kinds)("an unknown pid, one of another app and a malformed one are 400/02 (%s)", async (kind) => {
  const { read, people, pids } = await makeWorld(kind, 2);
  const other = await makeWorld(kind, 1);
  const wrong = [other.pids[0]!, crypto.randomUUID(), "x", "'; --", "", "ä".repeat(400), `{${pids[0]!}}`];
  if (kind === "APP") wrong.push(people[0]!);
  for (const offset of wrong) {
    const { status, subcode } = await ask(read, `?offset=${encodeURIComponent(offset)}`);
    expect([offset, status, subcode]).toEqual([offset, 400, "400/02"]);
  }
  const told = (await read(`${path}?limit=1&offset=${other.pids[0]!}`)).body as { beschreibung: string };
  expect(told.beschreibung).toBe("Der Parameter offset hat keinen gültigen Wert.");
});

test("limit is a number from 1 to 1000, and each parameter is given once", async () => {
  const { read, pids } = await makeWorld("SHARED", 1);
  for (const limit of ["0", "-1", "1001", "1e2", "x", "", "1.5", "9".repeat(30)])
    expect([limit, (await ask(read, `?limit=${limit}`)).subcode]).toEqual([limit, "400/02"]);
  for (const twice of ["limit=1&limit=1", `offset=${pids[0]!}&offset=${pids[0]!}`])
    expect((await ask(read, `?${twice}`)).subcode).toBe("400/17");
});

test.each(kinds)(
  "who leaves after their page does not end the walk, nor does a deletion for good (%s)",
  async (kind) => {
    const { read, people, pids, app } = await makeWorld(kind, 4);
    const personOf = async (pid: string) => {
      for (const personId of people) if ((await appId(app.clientId, personId)) === pid) return personId;
      throw new Error(pid);
    };
    const [soft, gone] = [await personOf(pids[0]!), await personOf(pids[1]!)];
    await change((it) => softDeletePerson(it, { personId: soft, restoreWindowDays: 30 }));
    expect(await pidsOf(read, `?offset=${pids[0]!}`)).toEqual(pids.slice(1));
    await change((it) => softDeletePerson(it, { personId: gone, restoreWindowDays: 30 }));
    await change((it) => deletePerson(it, { personId: gone, forget: async () => undefined }));
    expect(await pidsOf(read, `?limit=2&offset=${pids[1]!}`)).toEqual(pids.slice(2));
    const unsynced = await personOf(pids[2]!);
    await change((it) => updatePerson(it, { personId: unsynced, role: "OTHER" }));
    expect(await pidsOf(read, `?offset=${pids[2]!}`)).toEqual(pids.slice(3));
  },
);

const appId = async (client: ClientId, personId: PersonId) => {
  const { sector } = (await service.db.prisma.app.findUnique({ where: { clientId: client } }))!;
  if (sector === null) return personId;
  const found = await service.db.prisma.pairwiseId.findFirst({ where: { personId, recordId: personId, sector } });
  return found?.id;
};

test("a page keeps its tag while nothing changes, and each page has its own", async () => {
  const { read, pids, group, school } = await makeWorld("APP", 3);
  const queries = ["?limit=1", "?limit=2", `?limit=1&offset=${pids[0]!}`, `?offset=${pids[0]!}`, ""];
  const tags = await Promise.all(queries.map(async (query) => (await ask(read, query)).headers.get("etag")!));
  expect(new Set(tags).size).toBe(queries.length);
  for (const [at, query] of queries.entries())
    expect((await ask(read, query, { "if-none-match": tags[at]! })).status).toBe(304);
  await make.person({ school, groups: [group] });
  for (const [at, query] of queries.entries())
    expect((await ask(read, query, { "if-none-match": tags[at]! })).status).toBe(200);
});

/** One deed, all or nothing; one that is refused changes nothing. */
async function take(world: World, taken: typeof deed extends fc.Arbitrary<infer Made> ? Made : never, signs: boolean) {
  const before = { groups: [...world.groups], people: [...world.people] };
  try {
    if (signs) await signIn(service.db, world, taken);
    else await change((it) => act(it, world, taken));
  } catch (error) {
    if (!(error instanceof AppError || (error as { code?: string }).code === "23503")) throw error;
    Object.assign(world, before);
  }
}

test(
  "a walk returns everybody who is there from its first page to its last, and nobody twice, whatever happens meanwhile",
  { tags: "model", timeout: walkTimeoutMs },
  async () => {
    const steps = fc.array(fc.record({ deed, signs: fc.nat(8) }), { minLength: 15, maxLength: 30 });
    await fc.assert(
      fc.asyncProperty(steps, fc.integer({ min: 1, max: 3 }), async (taken, limit) => {
        const world: World = {
          clients: [],
          schools: [await make.school(), await make.school()],
          groups: [],
          people: [],
        };
        const readers: Reader[] = [];
        for (const subjectType of kinds) {
          const app = await make.app({ subjectType });
          world.clients.push(app.clientId);
          readers.push(await readerOf(app));
        }
        for (const school of world.schools) {
          const groups = [await make.group({ school }), await make.group({ school })];
          world.groups.push(...groups.map((id) => ({ id, school })));
          for (let n = 0; n < 5; n++) world.people.push(await make.person({ school, groups }));
          for (const app of world.clients) await make.grant({ app, school, groups });
        }
        for (const read of readers) {
          const left = [...taken];
          let always = new Set(await pidsOf(read));
          const pages = await walk(read, limit, "", async () => {
            const next = left.shift();
            if (next === undefined) return;
            await take(world, next.deed, next.signs === 0);
            const now = new Set(await pidsOf(read));
            always = new Set([...always].filter((pid) => now.has(pid)));
          });
          const walked = pages.flat();
          expect(new Set(walked).size).toBe(walked.length);
          expect([...always].filter((pid) => !walked.includes(pid))).toEqual([]);
        }
      }),
      walks(8, 3),
    );
  },
);
