// @module-tag slow
import { beforeAll, expect, test } from "vitest";
import { readAll, type Change } from "../../clients/typescript/src/index.ts";
import type { Received } from "../support/receiver.ts";
import { seed } from "../support/walks.ts";
import { troubles } from "./school-year/line.ts";
import { describeHeld, isSetAside, readShown, sortOut } from "./school-year/shown.ts";
import { nameSubject, startWorld, type Partner, type PartnerName, type World } from "./school-year/world.ts";
import { year } from "./school-year/year.ts";

// Three partners who know nothing but the contract live through a school year. After each step what they hold by
// webhooks alone is what the IDM API shows them and what they hold by the change feed, and what they were told is
// exactly what happened.

const [places, held] = [{} as Record<PartnerName, string>, {} as Record<PartnerName, string>];
let world: World;

beforeAll(async () => {
  world = await startWorld({ start: `${year[0]!.on}T08:00:00Z`, seed });
  for (const name of ["Goethe", "Nord"]) await world.make.school({ name });
  for (const { name, client } of Object.values(world.partners)) places[name] = await client.getPosition();
  await world.settle("before the year");
});

const describeEvent = (
  event: Pick<Change, "action" | "updatedProperties" | "personId" | "groupId" | "schoolId">,
): string =>
  `${nameSubject(world.names, event)} ${event.action}${event.updatedProperties ? ` [${event.updatedProperties.join(" ")}]` : ""}`;

const describeChange = (change: Change): string =>
  [
    describeEvent(change),
    change.reason,
    change.until && `until ${change.until.slice(0, 10)}`,
    change.schoolId === null && "(of no school)",
  ]
    .filter(Boolean)
    .join(" ");

async function readChanges({ client, name }: Partner): Promise<Change[]> {
  const changes = await readAll(client.listChanges({ after: places[name] }));
  places[name] = changes.at(-1)?.cursor ?? places[name];
  return changes;
}

/** The events that requests brought, each once, in the order in which they came first. */
const listEvents = (received: readonly Received[]): string[] =>
  [...new Map(received.map(({ headers, body }) => [headers["webhook-id"], body])).values()].map((body) =>
    describeEvent(JSON.parse(body) as Change),
  );

/** What was told of each subject, in order. */
const bySubject = (events: readonly string[]) => Map.groupBy(events, (event) => event.split(" ").slice(0, 2).join(" "));

test.each(year)("$on: $what", async ({ what, on, act, told, holds }) => {
  world.clock.set(`${on}T08:00:00Z`);
  const before = Object.values(world.partners).map(({ line }) => line.received.length);
  await act(world);
  await world.settle(what);
  for (const [index, partner] of Object.values(world.partners).entries()) {
    const { name, line, follower } = partner;
    const changes = await readChanges(partner);
    expect(changes.map(describeChange).sort(), name).toEqual((told[name] ?? []).toSorted());
    expect(bySubject(listEvents(line.received.slice(before[index]))), name).toEqual(
      bySubject(changes.map(describeEvent)),
    );
    expect(line.faults).toEqual([]);

    held[name] = holds?.[name] ?? held[name];
    const shown = await readShown(partner, world.everybody());
    await follower?.sync.follow();
    for (const { records } of [partner.told, follower ?? partner.told]) {
      expect(describeHeld(records), name).toBe(held[name]);
      expect(sortOut(records), name).toEqual(shown.held);
      for (const id of shown.mayReturn) expect(isSetAside(records, id), name).toBe(true);
    }
  }
});

test("a follower that looked away for too long is told so, reads everything again, and holds the same", async () => {
  await world.service.runJob("events.sweep");
  const { all, one, login } = world.partners;
  for (const { sleeper, name } of [all, one]) {
    expect(describeHeld(sleeper!.records)).not.toBe(held[name]);
    expect(await sleeper!.sync.follow()).toEqual({ hasLoaded: true });
    expect(describeHeld(sleeper!.records), name).toBe(held[name]);
  }
  // Its users signed in while it looked away; they are in no list, but it knows them by their sign-ins.
  await login.sleeper!.sync.follow();
  for (const id of login.signedIn) await login.sleeper!.sync.refresh({ type: "person", id });
  expect(describeHeld(login.sleeper!.records)).toBe(held.login);
});

test("meanwhile everything went wrong that can", () => {
  const met = Object.values(world.partners).flatMap(({ line }) => line.troubles);
  for (const trouble of troubles) expect(met, trouble).toContain(trouble);
  expect(met.filter((trouble) => trouble === null).length).toBeGreaterThan(100);
});
