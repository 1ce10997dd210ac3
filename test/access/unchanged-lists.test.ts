import pg from "pg";
import { beforeAll, expect, test, vi } from "vitest";
import type { GroupId, PersonId, SchoolId } from "../../src/directory/index.ts";
import { getReader, idm, schulconnex, type Reader } from "../support/api.ts";
import { makeMakers } from "../support/make.ts";
import { startService, type TestService } from "../support/service.ts";

// A caller who has a list already, or a page of it, is told so from its version: the list is not read.

let service: TestService;
let read: Reader;
let found: { school: SchoolId; group: GroupId; person: PersonId; affiliation: string };

beforeAll(async () => {
  service = await startService();
  const make = makeMakers(service.db);
  const school = await make.school();
  const group = await make.group({ school });
  const [person] = await make.people({ school, groups: [group], count: 5 });
  const app = await make.app();
  await make.grant({ app: app.clientId, school, groups: [group] });
  const { id: affiliation } = await service.db.prisma.affiliation.findFirstOrThrow({ where: { personId: person! } });
  found = { school, group, person: person!, affiliation };
  read = await getReader(service, app);
});

/** The names of the statements that a request asks, but for that of its token. */
async function statementsOf(work: () => Promise<unknown>): Promise<string[]> {
  const query = vi.spyOn(pg.Client.prototype, "query");
  await work();
  const names = query.mock.calls
    .map(([statement]) => statement as { name?: string; text?: string } | string)
    .map((it) => (typeof it === "string" ? it : (it.name ?? it.text ?? "a cursor")));
  query.mockRestore();
  return names.filter((name) => name !== "sign-on.findTokens");
}

const lists: [string, () => string][] = [
  ["schools", () => `${idm}/schools`],
  ["a page of schools", () => `${idm}/schools?limit=2`],
  ["groups", () => `${idm}/schools/${found.school}/groups`],
  ["groups with deleted", () => `${idm}/schools/${found.school}/groups?show-deleted=true`],
  ["a page of groups", () => `${idm}/schools/${found.school}/groups?limit=1`],
  ["people", () => `${idm}/schools/${found.school}/people`],
  ["people with deleted", () => `${idm}/schools/${found.school}/people?show-deleted=true`],
  ["a page of people", () => `${idm}/schools/${found.school}/people?limit=2`],
  ["users", () => `${idm}/schools/${found.school}/users`],
  ["a page of users", () => `${idm}/schools/${found.school}/users?limit=2`],
  ["personen-info", () => `${schulconnex}/personen-info`],
  [
    "personen-info with everything",
    () => `${schulconnex}/personen-info?vollstaendig=personen,personenkontexte,organisationen,gruppen,beziehungen`,
  ],
  ["pid", () => `${schulconnex}/personen-info?pid=${found.person}`],
  ["personenkontext.id", () => `${schulconnex}/personen-info?personenkontext.id=${found.affiliation}`],
  ["gruppe.id", () => `${schulconnex}/personen-info?gruppe.id=${found.group}`],
  ["organisation.id", () => `${schulconnex}/personen-info?organisation.id=${found.school}`],
];

test("unchanged, each list is answered from its version alone; changed, it is read again", async () => {
  for (const [label, path] of lists) {
    const first = await read(path());
    expect(first.status, label).toBe(200);
    const headers = { "if-none-match": first.headers.get("etag")! };
    let again!: Awaited<ReturnType<Reader>>;
    const asked = await statementsOf(async () => (again = await read(path(), headers)));
    expect([again.status, asked], label).toEqual([304, [expect.stringMatching(/_version$/)]]);
    await service.db.pool.query("UPDATE school SET city = city || '.' WHERE id = $1", [found.school]);
    const readAgain = await statementsOf(async () => (again = await read(path(), headers)));
    expect([again.status, again.headers.get("etag") === first.headers.get("etag")], label).toEqual([200, false]);
    expect(readAgain.length, label).toBeGreaterThan(1);
  }
});

test("pages tell each other apart, and the next page has a tag of its own", async () => {
  const path = `${idm}/schools/${found.school}/people?limit=2`;
  const first = await read(path);
  const next = first.headers.get("link")!.match(/<([^>]+)>/)![1]!;
  const second = await read(new URL(next, service.url).pathname + new URL(next, service.url).search);
  const tags = [first, second, await read(`${path}1`), await read(path.split("?")[0]!)].map(({ headers }) =>
    headers.get("etag"),
  );
  expect(new Set(tags).size).toBe(4);
});

test.each([undefined, "*"])("an altered cursor is refused, whatever the caller says to have: %s", async (tag) => {
  const answer = await read(
    `${idm}/schools/${found.school}/people?cursor=AAAA`,
    tag === undefined ? {} : { "if-none-match": tag },
  );
  expect([answer.status, (answer.body as { code: string }).code]).toEqual([400, "invalid_cursor"]);
});
