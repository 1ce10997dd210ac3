import { expect, test } from "vitest";
import { getReader, idm, type Reader } from "../support/api.ts";
import { makeMakers } from "../support/make.ts";
import { startService } from "../support/service.ts";
import type { TestApp } from "../support/token.ts";
import { makeMatrixWorld } from "./matrix-world.ts";

type Reference = { sourcedId: string };
type Named = { id: string; name: { firstFull: string; last: string } | null; status?: string; role: string };
type User = Record<"sourcedId" | "status", string> & Record<"givenName" | "familyName", string | null>;
type Class = Record<"sourcedId" | "status" | "title", string> & { school: Reference };
type Enrollment = Record<"status" | "role", string> & { user: Reference; class: Reference };

const roster = "/ims/oneroster/rostering/v1p2";
const sorted = (rows: readonly unknown[]): string[] => [...new Set(rows.map((row) => JSON.stringify(row)))].sort();

/** Everything that the IDM API shows, in the words of OneRoster. */
async function readIdm(read: Reader, schoolIds: readonly string[]) {
  const rows = async <Row>(path: string) => (await read(`${idm}${path}`)).body as Row[];
  const schools = await rows<{ id: string; name: string; officialId: string | null }>("/schools");
  const [users, classes, enrollments]: unknown[][] = [[], [], []];
  for (const id of schoolIds) {
    if ((await read(`${idm}/schools/${id}/groups`)).status !== 200) continue;
    for (const person of await rows<Named>(`/schools/${id}/people?show-deleted=true`))
      users!.push([person.id, person.status === "ACTIVE", person.name?.firstFull ?? null, person.name?.last ?? null]);
    const groups = await rows<{ id: string; name: string; status: string }>(`/schools/${id}/groups?show-deleted=true`);
    for (const group of groups) {
      classes!.push([group.id, group.status === "ACTIVE", group.name, id]);
      if (group.status !== "ACTIVE") continue;
      const { members } = (await read(`${idm}/groups/${group.id}`)).body as { members: Named[] };
      enrollments!.push(...members.map((member) => [group.id, member.id, member.role.toLowerCase()]));
    }
  }
  const orgs = schools.map(({ id, name, officialId }) => [id, name, officialId]);
  return { orgs: sorted(orgs), users: sorted(users!), classes: sorted(classes!), enrollments: sorted(enrollments!) };
}

async function readRoster(read: Reader) {
  const rows = async <Row>(name: string) =>
    ((await read(`${roster}/${name}?limit=1000`)).body as Record<string, Row[]>)[name]!;
  const isActive = ({ status }: { status: string }) => status === "active";
  const orgs = await rows<Record<"sourcedId" | "name" | "identifier", string>>("orgs");
  const users = await rows<User>("users");
  const classes = await rows<Class>("classes");
  const enrollments = (await rows<Enrollment>("enrollments")).filter(isActive);
  return {
    orgs: sorted(orgs.map(({ sourcedId, name, identifier }) => [sourcedId, name, identifier])),
    users: sorted(users.map((user) => [user.sourcedId, isActive(user), user.givenName, user.familyName])),
    classes: sorted(classes.map((one) => [one.sourcedId, isActive(one), one.title, one.school.sourcedId])),
    enrollments: sorted(enrollments.map((one) => [one.class.sourcedId, one.user.sourcedId, one.role])),
  };
}

/** Made before the tests, which take long enough. */
const startWorld = async (subjectType: "SHARED" | "APP") => {
  const service = await startService();
  const world = await makeMatrixWorld(makeMakers(service.db, service.clock()), subjectType);
  // Changes at several times; some events were swept away.
  await service.db.pool.query(`
    UPDATE app SET scopes = scopes || '{oneroster:read}';
    UPDATE app_event SET at = at + seq % 5 * interval '100 minutes';
    DELETE FROM app_event WHERE seq % 7 = 0;
    UPDATE person SET created_at = created_at + interval '250 minutes' WHERE abs(hashtext(id::text)) % 2 = 0;`);
  return { service, world };
};

const worlds = { SHARED: await startWorld("SHARED"), APP: await startWorld("APP") };

test.each(["SHARED", "APP"] as const)(
  "each app sees in OneRoster what the IDM API shows, with %s ids",
  async (type) => {
    const { service, world } = worlds[type];
    const seen: Record<string, unknown> = {};
    for (const [name, app] of Object.entries<TestApp>(world.apps)) {
      const inIdm = await readIdm(await getReader(service, app), Object.values(world.schools));
      expect(await readRoster(await getReader(service, app, ["oneroster:read"])), name).toEqual(inIdm);
      seen[name] = Object.values(inIdm).map((rows) => rows.length);
    }
    expect(seen).toMatchObject({ reader: [4, 15, 7, 16], stranger: [0, 0, 0, 0] });
  },
);

/** At most so many, the first and the last among them. */
const someOf = <T>(all: readonly T[], most: number): T[] =>
  all.filter(
    (_, place) =>
      place === 0 || Math.floor((place * most) / all.length) > Math.floor(((place - 1) * most) / all.length),
  );

test.each(["SHARED", "APP"] as const)(
  "what changed since a time, and a record by its id, are those of the whole list, with %s ids",
  async (type) => {
    const { service, world } = worlds[type];
    type Row = Record<"sourcedId" | "status" | "dateLastModified", string>;
    const lists = ["users", "students", "enrollments", "classes"];
    const known: Record<string, Set<string>> = Object.fromEntries(lists.map((name) => [name, new Set<string>()]));
    const found = { changes: 0, records: 0, none: 0 };
    for (const [app, credentials] of Object.entries<TestApp>(world.apps)) {
      const read = await getReader(service, credentials, ["oneroster:read"]);
      for (const name of lists) {
        const rowsOf = async (filter?: string) => {
          const query = new URLSearchParams({ limit: "1000", ...(filter !== undefined && { filter }) });
          const { status, body, headers } = await read(`${roster}/${name}?${query.toString()}`);
          expect(status, `${app} ${name} ${filter}`).toBe(200);
          const rows = Object.values(body as Record<string, Row[]>)[0]!;
          expect(headers.get("x-total-count")).toBe(String(rows.length));
          return rows;
        };
        const whole = await rowsOf();
        const times = new Set(whole.map(({ dateLastModified }) => dateLastModified));
        for (const time of someOf([...times].sort(), 3)) {
          const later = whole.filter(({ dateLastModified }) => dateLastModified > time);
          expect(await rowsOf(`dateLastModified>'${time}'`), `${app} ${name} since ${time}`).toEqual(later);
          found.changes += later.length;
        }
        const own = whole.map(({ sourcedId }) => sourcedId);
        for (const id of [...someOf(own, 3), ...someOf([...known[name]!], 2), "x"]) {
          const records = whole.filter(({ sourcedId, status }) => sourcedId === id && status === "active");
          const filter = `status='active' AND sourcedId='${id.toUpperCase()}'`;
          expect(await rowsOf(filter), `${app} ${name} ${id}`).toEqual(records);
          found[records.length === 0 ? "none" : "records"] += 1;
        }
        for (const id of own) known[name]!.add(id);
      }
    }
    expect(Math.min(...Object.values(found))).toBeGreaterThan(10);
  },
);
