import { expect, onTestFinished, test } from "vitest";
import { makeStaff, refusalOf, readPages } from "../../support/admin.ts";
import { makeMakers } from "../../support/make.ts";
import { startService } from "../../support/service.ts";

const service = await startService();
const make = makeMakers(service.db);
const operator = await makeStaff(service, "OPERATOR");
const school = await make.school({ name: "Mitte" });
await make.school({ name: "Anfang" });
await make.school({ name: "Zuletzt" });

type Row = Record<string, unknown>;

/** Everything of a list, two entries at a time. */
const readAll = async (path: string): Promise<Row[]> =>
  (await readPages<Row>(operator.call, `${path}${path.includes("?") ? "&" : "?"}limit=2`)).flat();

const named = (rows: Row[]) => rows.map(({ name }) => name);

test("schools and apps come by name, groups in the order of classes, and backwards", async () => {
  const school = await make.school();
  for (const name of ["10c", "Mathe 10", "E1", "5a", "Mathe 5", "7b"]) await make.group({ school, name });
  for (const name of ["Äpfel", "Zebra", "Bilder"]) await make.app({ name });
  for (const path of ["/schools", "/apps", `/groups?school=${school}`]) {
    const sorted = async (order: string) =>
      named(await readAll(`${path}${path.includes("?") ? "&" : "?"}order=${order}`));
    const forwards = await sorted("asc");
    expect(forwards.length).toBeGreaterThan(2);
    expect(named(await readAll(path))).toEqual(forwards);
    if (path.startsWith("/groups")) expect(forwards).toEqual(["5a", "7b", "10c", "E1", "Mathe 5", "Mathe 10"]);
    expect(await sorted("desc")).toEqual(forwards.toReversed());
    expect(refusalOf(await operator.call("GET", `${path}${path.includes("?") ? "&" : "?"}order=size`))).toEqual([
      400,
      "invalid_request",
    ]);
  }
});

test("people come by name, age of the record and last sign-in, both ways; by times of one school or group only", async () => {
  const { clientId } = await make.app();
  const group = await make.group({ school });
  const names = ["Berg", "Adler", "Clemens", "Dorn"];
  const people: string[] = [];
  for (const [day, last] of names.entries()) {
    const id = await make.person({ school, groups: [group], name: { firstFull: "Bo", firstCall: "Bo", last } });
    await service.db.prisma.person.update({ where: { id }, data: { createdAt: new Date(Date.UTC(2026, 1, 1 + day)) } });
    people.push(id);
  }
  const [berg, adler, clemens, dorn] = people as [string, string, string, string];
  for (const [personId, day] of [
    [clemens, 1],
    [berg, 2],
    [adler, 3],
  ] as const) {
    const at = new Date(Date.UTC(2026, 2, day));
    await service.db.prisma.signIn.create({ data: { clientId, personId, firstSignInAt: at, lastSignInAt: at } });
  }
  const expected = {
    name: [adler, berg, clemens, dorn],
    createdAt: [berg, adler, clemens, dorn],
    lastSignIn: [dorn, clemens, berg, adler],
  };
  for (const where of [`school=${school}`, `group=${group}`]) {
    for (const [sort, ids] of Object.entries(expected)) {
      const sorted = async (order: string) =>
        (await readAll(`/people?${where}&sort=${sort}${order}`)).map(({ id }) => id);
      expect([sort, await sorted("")]).toEqual([sort, ids]);
      expect([sort, await sorted("&order=desc")]).toEqual([sort, ids.toReversed()]);
    }
  }
  const everybody = (await readAll("/people?order=desc")).map(({ id }) => id as string);
  expect(everybody.filter((id) => people.includes(id))).toEqual(expected.name.toReversed());
  for (const sort of ["createdAt", "lastSignIn&order=desc"])
    expect(refusalOf(await operator.call("GET", `/people?sort=${sort}`))).toEqual([400, "invalid_request"]);
});

test("audit lines come with the oldest first too", async () => {
  const newest = (await readAll("/audit")).map(({ id }) => id);
  expect((await readAll("/audit?sort=newest")).map(({ id }) => id)).toEqual(newest);
  expect((await readAll("/audit?sort=oldest")).map(({ id }) => id)).toEqual(newest.toReversed());
});

test("a cursor of one order is none of another", async () => {
  const { headers } = await operator.call("GET", "/schools?order=asc&limit=1");
  const cursor = /cursor=([^&>]+)/.exec(headers.get("link")!)![1]!;
  for (const order of ["&order=desc", ""])
    expect(refusalOf(await operator.call("GET", `/schools?limit=1&cursor=${cursor}${order}`))).toEqual([
      400,
      "invalid_cursor",
    ]);
  expect((await operator.call("GET", `/schools?limit=1&cursor=${cursor}&order=asc`)).status).toBe(200);
});

test("the people of all schools can be read in their order from an index", async () => {
  const client = await service.db.pool.connect();
  onTestFinished(() => client.release(true));
  await client.query("SET enable_seqscan = off; SET enable_sort = off");
  const { rows } = await client.query<{ "QUERY PLAN": string }>(
    "EXPLAIN SELECT id FROM person p WHERE (NULL::uuid IS NULL) ORDER BY p.sort_key, p.id LIMIT 101",
  );
  expect(rows.map((row) => row["QUERY PLAN"]).join("\n")).toContain("person_sort_key_id_idx");
});
