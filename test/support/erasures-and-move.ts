import { expect } from "vitest";
import { askingApps, updateApp, changeDirectory } from "../../src/access/index.ts";
import { forgetPerson } from "../../src/accounts/index.ts";
import { deletePerson, softDeletePerson, type GroupId, type SchoolId } from "../../src/directory/index.ts";
import { withPrismaTransaction } from "../../src/platform/database/db.ts";
import { makeStaff } from "./admin.ts";
import { getReader, idm } from "./api.ts";
import { makeMakers } from "./make.ts";
import type { TestService } from "./service.ts";
import type { TestApp } from "./token.ts";

/**
 * Gives an app with shared ids something in every list: two people whom it saw are deleted for good, and it is being
 * moved to ids of its own. Returns the ids of the two erasures.
 */
export async function makeErasuresAndMove(
  service: TestService,
  app: TestApp,
  { school, group }: { school: SchoolId; group: GroupId },
): Promise<[string, string]> {
  const { clientId } = app;
  const { db } = service;
  const origin = { at: service.clock(), actorId: "test" };
  await withPrismaTransaction(db, (tx) =>
    updateApp(tx, { clientId, confirmsErasures: true }, { ...origin, allowLoopbackHttp: true }),
  );
  const make = makeMakers(db, origin.at);
  for (const personId of [
    await make.person({ school, groups: [group] }),
    await make.person({ school, groups: [group] }),
  ])
    await changeDirectory(db, origin, async (it) => {
      await softDeletePerson(it, { personId, restoreWindowDays: 30 });
      await deletePerson(it, { personId, forget: askingApps(forgetPerson) });
    });
  const { call } = await makeStaff(service, "PARTNER", { clientIds: [clientId] });
  const move = await call("POST", `/apps/${clientId}/id-move`, { body: { subjectType: "APP" } });
  expect(move).toMatchObject({ status: 201 });
  await service.runJob("access.moveIds");

  const read = await getReader(service, app);
  const erasures = (await read(`${idm}/erasures`)).body as { id: string }[];
  expect(erasures).toHaveLength(2);
  return [erasures[0]!.id, erasures[1]!.id];
}
