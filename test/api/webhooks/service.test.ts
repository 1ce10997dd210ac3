import { expect, test } from "vitest";
import { changeDirectory } from "../../../src/access/index.ts";
import {
  addMembership,
  removeMembership,
  restorePerson,
  softDeletePerson,
  updatePerson,
} from "../../../src/directory/index.ts";
import type { Change } from "../../../src/directory/index.ts";
import { registerEndpoint } from "../../support/webhook-changes.ts";
import { readConfig } from "../../../src/config/index.ts";
import { getReader, idm } from "../../support/api.ts";
import { makeMakers } from "../../support/make.ts";
import { startReceiver } from "../../support/receiver.ts";
import { startService } from "../../support/service.ts";
import { inside, verify } from "../../support/webhooks.ts";

// The whole service; the receiver does what the contract advises: it reads what an event names.
const mirror = { person: new Set<string>(), group: new Set<string>(), school: new Set<string>() };

const service = await startService({ env: { WEBHOOK_ALLOW_PRIVATE_ADDRESSES: "true" } });
const app = await makeMakers(service.db).app();
const read = await getReader(service, app);
const places = { person: "people", group: "groups", school: "schools" };
const receiver = await startReceiver(async (call, response) => {
  const { event, ...ids } = JSON.parse(call.body) as { event: keyof typeof mirror } & Record<string, string>;
  const id = ids[`${event}Id`]!;
  const { status } = await read(`${idm}/${places[event]}/${id}`);
  if (status === 200) mirror[event].add(id);
  else mirror[event].delete(id);
  response.writeHead(204).end();
});
const { encryptionKeys: keys } = readConfig({ NODE_ENV: "test" });
const made = await registerEndpoint(
  service.db,
  { clientId: app.clientId, url: receiver.url, eventTypes: ["person", "group", "school"] },
  { origin: { at: service.clock() }, keys, policy: inside },
);
const secret = made.secret;

/** What the app may read, asked for as a whole. */
async function readAll(school: string): Promise<Record<keyof typeof mirror, string[]>> {
  const ids = async (path: string) => {
    const { status, body } = await read(`${idm}/${path}`);
    return status === 200 ? (body as { id: string }[]).map(({ id }) => id).sort() : [];
  };
  return {
    person: await ids(`schools/${school}/people`),
    group: await ids(`schools/${school}/groups`),
    school: await ids("schools"),
  };
}
const mirrored = () => ({
  person: [...mirror.person].sort(),
  group: [...mirror.group].sort(),
  school: [...mirror.school].sort(),
});
const change = <T>(work: (of: Change) => Promise<T>): Promise<T> =>
  changeDirectory(service.db, { at: service.clock(), actorId: "test" }, work);

test("a receiver that reads what each event names holds what the IDM API shows, after every change", async () => {
  const make = makeMakers(service.db);
  const school = await make.school();
  const [first, second, unsynced] = [
    await make.group({ school }),
    await make.group({ school }),
    await make.group({ school }),
  ];
  const [ada, bo, cem] = [
    await make.person({ school, groups: [first] }),
    await make.person({ school, groups: [first, second] }),
    await make.person({ school, groups: [unsynced] }),
  ];
  const lastEvent = () => receiver.events().at(-1);

  const steps: [what: string, step: () => Promise<unknown>, expected: object | null][] = [
    [
      "sync is switched on",
      () => make.grant({ app: app.clientId, school, signOn: "NOBODY", groups: [first, second] }),
      null,
    ],
    [
      "a name changes",
      () =>
        change((of) => updatePerson(of, { personId: ada, name: { firstFull: "Ada", firstCall: "Ada", last: "Neu" } })),
      { event: "person", action: "update", updatedProperties: ["name"], personId: ada },
    ],
    [
      "somebody enters a synced group",
      () => change((of) => addMembership(of, { groupId: second, personId: cem })),
      { event: "person", action: "create", personId: cem },
    ],
    [
      "somebody is soft-deleted",
      () => change((of) => softDeletePerson(of, { personId: bo, restoreWindowDays: 30 })),
      { event: "person", action: "delete", updatedProperties: ["status"], personId: bo },
    ],
    [
      "and restored",
      () => change((of) => restorePerson(of, { personId: bo })),
      { event: "person", action: "restore", updatedProperties: ["status"], personId: bo },
    ],
    [
      "somebody leaves the synced groups",
      () => change((of) => removeMembership(of, { groupId: first, personId: ada })),
      { event: "person", action: "delete", personId: ada },
    ],
    [
      "another group is synced instead",
      () => make.grant({ app: app.clientId, school, signOn: "NOBODY", groups: [second] }),
      null,
    ],
    ["sync is switched off", () => make.grant({ app: app.clientId, school, signOn: "NOBODY", sync: false }), null],
  ];
  for (const [what, step, expected] of steps) {
    const before = receiver.received.length;
    await step();
    for (const job of ["fanOut", "deliver"]) await service.runJob(`webhooks.${job}`);
    expect({ what, ...mirrored() }).toEqual({ what, ...(await readAll(school)) });
    expect(receiver.received.length).toBeGreaterThan(before);
    if (expected !== null) expect(lastEvent()).toEqual(expected);
  }
  expect(receiver.received.every((call) => verify(call, secret).ep && verify(call, secret).standard)).toBe(true);
});
