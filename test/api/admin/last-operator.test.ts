import { expect, test } from "vitest";
import { makeStaff, refusalOf } from "../../support/admin.ts";
import { makeMakers } from "../../support/make.ts";
import { startService } from "../../support/service.ts";
import { giveLogin } from "../../support/token.ts";
import { giveRoleTo } from "../../support/portal.ts";
import { hashAllQuickly } from "../../support/quick-hash.ts";

hashAllQuickly();
const service = await startService();
const make = makeMakers(service.db);
const school = await make.school();
const lastOperator = [409, "last_operator"];

test("the last operator is neither deleted nor blocked, a person or an app; one of two is", async () => {
  const { app, call } = await makeStaff(service, "OPERATOR");
  expect(refusalOf(await call("DELETE", `/apps/${app.clientId}`))).toEqual(lastOperator);

  const person = await make.person({ school, role: "OTHER" });
  await giveLogin(service.db, person);
  await giveRoleTo(service, person, "OPERATOR", {});
  const steps = [
    () => call("POST", `/people/${person}/soft-deletion`),
    () => call("DELETE", `/people/${person}`),
    () => call("POST", `/people/${person}/block`),
  ];
  const endsAt = new Date(service.clock().getTime() + 86_400_000);
  await service.db.prisma.staffRole.updateMany({ where: { clientId: app.clientId }, data: { endsAt } });
  for (const step of steps) expect(refusalOf(await step())).toEqual(lastOperator);
  expect(refusalOf(await call("POST", `/people/${person}/soft-deletion?dry-run=true`))).toEqual(lastOperator);
  const kept = await service.db.prisma.person.findUniqueOrThrow({ where: { id: person } });
  expect([kept.status, kept.blockedAt]).toEqual(["ACTIVE", null]);

  await service.db.prisma.staffRole.updateMany({ where: { clientId: app.clientId }, data: { endsAt: null } });
  expect((await call("POST", `/people/${person}/block`)).status).toBe(204);
  expect(refusalOf(await call("DELETE", `/apps/${app.clientId}`))).toEqual(lastOperator);
  expect((await call("DELETE", `/people/${person}/block`)).status).toBe(204);
  expect((await call("POST", `/people/${person}/soft-deletion`)).status).toBe(204);
  expect(refusalOf(await call("DELETE", `/apps/${app.clientId}`))).toEqual(lastOperator);
  const spare = await makeStaff(service, "OPERATOR");
  expect((await call("DELETE", `/apps/${app.clientId}`)).status).toBe(204);
  expect((await spare.call("DELETE", `/people/${person}`)).status).toBe(204);
});

test("the home school finds in its audit what was done to the login of a person, and a school where they are a guest does not", async () => {
  const other = await make.school();
  const person = await make.person({ schools: [school, other] });
  await giveLogin(service.db, person);
  const admins = [
    await makeStaff(service, "SCHOOL_ADMIN", { schoolIds: [school] }),
    await makeStaff(service, "SCHOOL_ADMIN", { schoolIds: [other] }),
  ];
  const path = `/people/${person}`;
  const { call } = admins[0]!;
  expect((await call("POST", `${path}/block`)).status).toBe(204);
  expect((await call("DELETE", `${path}/block`)).status).toBe(204);
  expect((await call("POST", `${path}/sign-out`)).status).toBe(204);
  expect((await call("POST", `${path}/login/release`)).status).toBe(204);
  expect((await call("POST", `${path}/login/password`)).status).toBe(200);
  const done = ["credential_set", "person_blocked", "person_signed_out", "person_unblocked", "sign_in_limits_released"];
  for (const [at, admin] of admins.entries()) {
    const lines = (await admin.call("GET", `/audit?person=${person}&limit=50`)).body as { action: string }[];
    const actions = lines.map(({ action }) => action).filter((action) => action !== "person_created");
    expect(actions.sort()).toEqual(at === 0 ? done : []);
  }
});
