import { expect, test } from "vitest";
import { changeDirectory, type ClientId } from "../../../src/access/index.ts";
import { updateSchool, type GroupId, type SchoolId } from "../../../src/directory/index.ts";
import { getReader, idm, makeReader, type Reader } from "../../support/api.ts";
import { makeIdmClient } from "../../support/typed-clients.ts";
import { makeMakers, type Make } from "../../support/make.ts";
import { startService } from "../../support/service.ts";
import { issueAppToken, type TestApp, getUserTokens, giveLogin } from "../../support/token.ts";
import { decodeJwt } from "jose";

const service = await startService();
const make = makeMakers(service.db);
const app = await make.app();

const clientOf = async (of: TestApp) =>
  makeIdmClient({ baseUrl: service.url, accessToken: await issueAppToken(service, of, ["people:read"]) });
const client = await clientOf(app);

async function makeSchool(
  names: (string | null)[],
  of: ClientId = app.clientId,
): Promise<{ id: SchoolId; group: GroupId }> {
  const id = await make.school();
  const group = await make.group({ school: id });
  for (const last of names)
    await make.person({
      school: id,
      groups: [group],
      name: last === null ? null : { firstFull: "Kim", firstCall: "Kim", last },
    });
  await make.grant({ app: of, school: id, groups: [group] });
  return { id, group };
}

type Query = { limit?: number; cursor?: string };

type Page = { names: (string | null)[]; next: Query | null };

async function readPage(id: string, query: Query): Promise<Page> {
  const { data, response } = await client.GET("/idm/ep/v1/schools/{id}/people", { params: { path: { id }, query } });
  const link = /<([^>]+)>; rel="next"/.exec(response.headers.get("link") ?? "")?.[1];
  const following = link === undefined ? null : new URL(link, service.url).searchParams;
  return {
    names: data!.map(({ name }) => name?.last ?? null),
    next: following && { limit: Number(following.get("limit")), cursor: following.get("cursor")! },
  };
}

async function readPages(
  id: string,
  limit: number,
  between: (page: number) => Promise<void> = async () => undefined,
): Promise<(string | null)[][]> {
  const pages: (string | null)[][] = [];
  for (let query: Query | null = { limit }; query !== null;) {
    const { names, next }: Page = await readPage(id, query);
    query = next;
    await between(pages.push(names));
  }
  return pages;
}

test("people come in German dictionary order, those without a name last", async () => {
  const { id } = await makeSchool([
    "Zander",
    "Öztürk",
    "Ortmann",
    null,
    "Müller",
    "Mueller",
    "Muster",
    "Ähre",
    "Adler",
    "Großmann",
  ]);
  const { data } = await client.GET("/idm/ep/v1/schools/{id}/people", { params: { path: { id } } });
  expect(data!.map(({ name }) => name?.last ?? null)).toEqual([
    "Adler",
    "Ähre",
    "Großmann",
    "Mueller",
    "Müller",
    "Muster",
    "Ortmann",
    "Öztürk",
    "Zander",
    null,
  ]);
});

test("pages are asked for, follow each other by Link and end without one", async () => {
  const { id } = await makeSchool(["A", "B", "C", "D", null]);
  expect(await readPages(id, 2)).toEqual([["A", "B"], ["C", "D"], [null]]);
  expect(await readPages(id, 5)).toEqual([["A", "B", "C", "D", null]]);
});

test("pages stay in step while people come and go", async () => {
  const { id, group } = await makeSchool(["A", "C", "E", "G"]);
  const pages = await readPages(id, 2, async (page) => {
    if (page !== 1) return;
    await service.db.pool.query("DELETE FROM person WHERE home_school_id = $1 AND last = 'C'", [id]);
    for (const last of ["B", "F"])
      await make.person({ school: id, groups: [group], name: { firstFull: "Kim", firstCall: "Kim", last } });
  });
  expect(pages).toEqual([["A", "C"], ["E", "F"], ["G"]]);
});

test("a cursor is good for the list and the app that it was given for, and for nothing else", async () => {
  const other = await make.app();
  const { id, group } = await makeSchool(["A", "B"]);
  await make.grant({ app: other.clientId, school: id, groups: [group] });
  const second = await makeSchool(["A", "B"]);
  const { response } = await client.GET("/idm/ep/v1/schools/{id}/people", {
    params: { path: { id }, query: { limit: 1 } },
  });
  const cursor = /cursor=([^>&]+)/.exec(response.headers.get("link")!)![1]!;
  const statusOf = async (reader: typeof client, school: string, given: string, more = {}) =>
    (
      await reader.GET("/idm/ep/v1/schools/{id}/people", {
        params: { path: { id: school }, query: { limit: 1, cursor: given, ...more } },
      })
    ).response.status;
  const bytes = Buffer.from(cursor, "base64url");
  bytes[15]! ^= 1;
  const altered = bytes.toString("base64url");
  expect(await statusOf(client, id, cursor)).toBe(200);
  expect(await statusOf(client, second.id, cursor)).toBe(400);
  expect(await statusOf(await clientOf(other), id, cursor)).toBe(400);
  expect(await statusOf(client, id, cursor, { "show-deleted": true })).toBe(400);
  expect(await statusOf(client, id, altered)).toBe(400);
});

test("a cursor holds no name that a log could keep", async () => {
  const { id } = await makeSchool(["Geheimnis", "Zuletzt"]);
  const { response } = await client.GET("/idm/ep/v1/schools/{id}/people", {
    params: { path: { id }, query: { limit: 1 } },
  });
  const cursor = new URLSearchParams(/\?([^>]+)>/.exec(response.headers.get("link")!)![1]).get("cursor")!;
  expect(Buffer.from(cursor, "base64url").toString("latin1").toLowerCase()).not.toContain("geheim");
});

test("a page whose successor appears has another tag", async () => {
  const { id, group } = await makeSchool(["A"]);
  const read = () => client.GET("/idm/ep/v1/schools/{id}/people", { params: { path: { id }, query: { limit: 1 } } });
  const alone = (await read()).response.headers;
  await make.person({ school: id, groups: [group], name: { firstFull: "Kim", firstCall: "Kim", last: "B" } });
  const followed = (await read()).response.headers;
  expect([alone.get("link"), followed.get("link") === null, alone.get("etag") === followed.get("etag")]).toEqual([
    null,
    false,
    false,
  ]);
});

test("text that JSON, HTML or SQL would stumble over comes back as it is", async () => {
  const last = `"O'Neill"\\ <b>\n\u2028 😀 $1 --`;
  const { id } = await makeSchool(["Written"]);
  // No entrance takes control characters; what stands in the record all the same is answered as it is.
  await service.db.pool.query("UPDATE person SET last = $1 WHERE last = 'Written'", [last]);
  const { data } = await client.GET("/idm/ep/v1/schools/{id}/people", { params: { path: { id } } });
  expect(data![0]!.name!.last).toBe(last);
});

const other = await make.app();
const read = await getReader(service, other);
const listNames = (body: unknown) => (body as { name: string }[]).map(({ name }) => name);
const rename = (schoolId: SchoolId, name: string) =>
  changeDirectory(service.db, { at: service.clock(), actorId: "test" }, (change) =>
    updateSchool(change, { schoolId, name }),
  );

/** Whole, and page after page of two. */
async function readNames(): Promise<{ whole: string[]; pages: string[] }> {
  const whole = listNames((await read(`${idm}/schools`)).body);
  const pages: string[] = [];
  for (let path: string | undefined = `${idm}/schools?limit=2`; path !== undefined;) {
    const { body, headers } = await read(path);
    pages.push(...listNames(body));
    const next = /<([^>]+)>/.exec(headers.get("link") ?? "")?.[1];
    path = next && new URL(next, service.url).pathname + new URL(next, service.url).search;
  }
  return { whole, pages };
}

test("schools come in the order of their names, which is the new one after a school got another name", async () => {
  const [c, a, b, hidden] = [await make.school(), await make.school(), await make.school(), await make.school()];
  await rename(c, "Cedernschule");
  for (const school of [c, a, b]) await make.grant({ app: other.clientId, school });
  await make.grant({ app: other.clientId, school: hidden, sync: false });
  await rename(a, "Ahornschule");
  await rename(b, "Birkenschule");
  const names = ["Ahornschule", "Birkenschule", "Cedernschule"];
  expect(await readNames()).toEqual({ whole: names, pages: names });
  await rename(a, "Zirbenschule");
  const renamed = ["Birkenschule", "Cedernschule", "Zirbenschule"];
  expect(await readNames()).toEqual({ whole: renamed, pages: renamed });
});

async function makeApp(): Promise<{ clientId: Awaited<ReturnType<Make["app"]>>["clientId"]; read: Reader }> {
  const app = await make.app();
  return { clientId: app.clientId, read: makeReader(service, await issueAppToken(service, app, ["users:read"])) };
}

test("users asked for at the same time are each answered to the one who asked", async () => {
  const [one, other] = [await makeApp(), await makeApp()];
  const schools = [await make.school(), await make.school()] as const;
  await make.grant({ app: one.clientId, school: schools[0] });
  await make.grant({ app: other.clientId, school: schools[1] });
  const people = [
    ...(await make.people({ school: schools[0], count: 25 })).map((id) => ({ id, of: one })),
    ...(await make.people({ school: schools[1], count: 25 })).map((id) => ({ id, of: other })),
  ];
  const asked = people.flatMap(({ id, of }) => [one, other].map((app) => ({ id, app, shown: app === of })));
  const answers = await Promise.all(
    asked.map(async ({ id, app, shown }) => ({ id, shown, answer: await app.read(`${idm}/users/${id}`) })),
  );
  for (const { id, shown, answer } of answers) {
    expect(answer).toMatchObject(
      shown ? { status: 200, body: { id } } : { status: 404, body: { message: "User not found" } },
    );
  }
});

test("who ever signed in stays a user, whatever becomes of the grant, until deleted for good", async () => {
  const app = await makeApp();
  const school = await make.school();
  const person = await make.person({ school });
  const status = async () => (await app.read(`${idm}/users/${person}`)).status;
  expect(await status()).toBe(404);
  await make.grant({ app: app.clientId, school, signOn: "EVERYBODY", sync: false });
  expect(await status()).toBe(404);
  await make.signIn({ app: app.clientId, person });
  expect(await status()).toBe(200);
  await make.grant({ app: app.clientId, school, signOn: "NOBODY", sync: false });
  expect(await status()).toBe(200);
  await service.db.pool.query("DELETE FROM person WHERE id = $1", [person]);
  expect(await status()).toBe(404);
});

test("a user has the pseudonym of the app's claims, in lists and pages too, for apps with its scope", async () => {
  const school = await make.school();
  const [with_, without] = [
    await make.app({ scopes: ["openid", "pseudonym", "users:read"] }),
    await make.app({ scopes: ["openid", "users:read"] }),
  ];
  for (const { clientId: app } of [with_, without]) await make.grant({ app, school });
  const person = await make.person({ school });
  // What looks like the property inside a value stays what it is.
  const last = '"pseudonym":"c0000000-0000-4000-8000-000000000002"';
  await service.db.pool.query("UPDATE person SET last = $2 WHERE id = $1", [person, last]);
  const reader = async (app: typeof with_) => makeReader(service, await issueAppToken(service, app, ["users:read"]));
  const [read, readWithout] = [await reader(with_), await reader(without)];

  const { id_token: token } = await getUserTokens(service, with_, await giveLogin(service.db, person), {
    scopes: ["openid", "pseudonym"],
  });
  const { pseudonym } = decodeJwt(token!);
  const user = (await read(`${idm}/users/${person}`)).body as Record<string, unknown>;
  expect(user).toMatchObject({ id: person, pseudonym, name: { last } });
  const list = (query = "") => read(`${idm}/schools/${school}/users${query}`);
  for (const { body } of [await list(), await list("?limit=1000")]) expect(body).toEqual([user]);
  expect((await readWithout(`${idm}/users/${person}`)).body).toMatchObject({ pseudonym: null });
});
