// @module-tag slow
import { expect, test } from "vitest";
import {
  createClient,
  eraseAsAsked,
  makeMemoryStore,
  makeSync,
  readAll,
  type MemoryStore,
} from "../../clients/typescript/src/index.ts";
import type { components } from "../../generated/openapi/admin.ts";
import { scopeToWire } from "../../src/access/index.ts";
import { idmScopes } from "../support/api.ts";
import { makeStaff } from "../support/admin.ts";
import { atFileEnd } from "../support/file-end.ts";
import { makeMakers } from "../support/make.ts";
import { startService } from "../support/service.ts";

// A partner who knows the client of clients/typescript alone follows the change feed through the year of a sandbox.

const service = await startService();
const app = await makeMakers(service.db).app({ confirmsErasures: true });
const partner = await makeStaff(service, "PARTNER", { clientIds: [app.clientId] });
const client = createClient({
  issuer: service.url,
  clientId: app.clientId,
  clientSecret: app.clientSecret!,
  scopes: idmScopes.map((one) => scopeToWire("schultor", one)),
});
const store = makeMemoryStore();
const sync = makeSync({ client, store });
atFileEnd(() => sync.close());

/** What the API shows: ids of schools, of groups with their names, and of people and users with their groups. */
async function readShown() {
  const schools = await readAll(client.listSchools());
  const [groups, people] = [new Map<string, string>(), new Map<string, string[]>()];
  for (const { id } of schools) {
    for (const group of await readAll(client.listSchoolGroups(id))) groups.set(group.id, group.name);
    for (const one of await readAll(client.listSchoolPeople(id))) people.set(one.id, idsOf(one.groups));
    for (const one of await readAll(client.listSchoolUsers(id))) people.set(one.id, idsOf(one.groups));
  }
  return { schools: schools.map(({ id }) => id).toSorted(), groups, people };
}

/** What `people?show-deleted=true` says of the pupils of 10a who left, with what the user says of each. */
async function listLeavers() {
  const listed = (await readAll(client.listSchools())).map(({ id }) =>
    readAll(client.listSchoolPeople(id, { showDeleted: true })),
  );
  const people = (await Promise.all(listed)).flat().filter(({ name }) => name?.last === "Abgang");
  return Promise.all(people.map(async ({ id, status }) => [status, (await client.findUser(id))?.status]));
}

const idsOf = (list: readonly { id: string }[]): string[] => list.map(({ id }) => id).toSorted();

const gone = ["SOFT_DELETED", "SOFT_DELETED"];

const describeHeld = ({ school, group, person }: MemoryStore) => ({
  schools: [...school.keys()].toSorted(),
  groups: new Map([...group.values()].map(({ id, name }) => [id, name])),
  people: new Map(
    [...person.values()].filter(({ status }) => status === "ACTIVE").map(({ id, groups }) => [id, groups.toSorted()]),
  ),
});

test("a partner who follows the year of a sandbox holds what the API shows after each step, and nothing at its end", async () => {
  await sync.follow();
  const made = await partner.call("POST", `/apps/${app.clientId}/sandboxes`);
  const { sandbox } = made.body as components["schemas"]["CreatedSandbox"];
  for (const { step } of sandbox.steps) {
    service.clock.forwardSeconds(60);
    const played = await partner.call("POST", `/sandboxes/${sandbox.id}/steps`, { body: { upTo: step } });
    expect([step, played.status]).toEqual([step, 200]);
    await sync.follow();
    expect(describeHeld(store), step).toEqual(await readShown());
    if (step === "NEW_YEAR") expect(await listLeavers(), "leavers of the class that ended").toEqual([gone, gone]);
  }
  expect([store.school.size, store.person.size > 1000]).toEqual([2, true]);
  const erased: string[] = [];
  const confirmed = await eraseAsAsked(client, async (personId) => void erased.push(personId));
  expect([confirmed, erased.length, store.person.has(erased[0]!)]).toEqual([1, 1, false]);
  expect((await readAll(client.listErasures({ state: "erased" }))).map(({ personId }) => personId)).toEqual(erased);
  expect(await readAll(client.listErasures())).toEqual([]);
  await partner.call("DELETE", `/sandboxes/${sandbox.id}`);
  await sync.follow();
  expect(describeHeld(store)).toEqual({ schools: [], groups: new Map(), people: new Map() });
});
