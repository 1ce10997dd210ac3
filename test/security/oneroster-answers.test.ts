import { expect, test } from "vitest";
import type { components } from "../../generated/openapi/admin.ts";
import { makeStaff } from "../support/admin.ts";
import { allScopes, makeMakers } from "../support/make.ts";
import { hashAllQuickly } from "../support/quick-hash.ts";
import { startService } from "../support/service.ts";
import { postToken } from "../support/token.ts";

type Schemas = components["schemas"];

hashAllQuickly();
const service = await startService();
const make = makeMakers(service.db);
const app = await make.app({ scopes: [...allScopes, "oneroster:read"] });
const school = await make.school();
const group = await make.group({ school });
const name = { firstFull: "Realinde", firstCall: "Realinde", last: "Person" };
const person = await make.person({ school, groups: [group], name });
await make.grant({ app: app.clientId, school, groups: [group] });
const { call } = await makeStaff(service, "PARTNER", { clientIds: [app.clientId] });
const created = (await call("POST", `/apps/${app.clientId}/sandboxes`)).body as Schemas["CreatedSandbox"];
const invented = created.sandbox.schools[0]!.id;

const rosters = ["/ims/oneroster/v1p1", "/ims/oneroster/rostering/v1p2"];
const ask = (path: string) => call("GET", `/apps/${app.clientId}/answer?path=${encodeURIComponent(path)}`);

test.each(rosters)("no spelling of an address below %s shows a partner a real person", async (roster) => {
  const ways = [
    `schools/${school}/students`,
    `schools/${school}/enrollments`,
    `classes/${group}/students`,
    `schools/${invented}/../${school}/students`,
    `schools/${invented}/%2e%2e/${school}/students`,
    `schools/${invented}%2F..%2F${school}/students`,
    `schools//${school}/students`,
    `schools/${school}/students/`,
    `schools/${school}/students?school=${invented}`,
    `schools/${invented}/students?filter=familyName=%27Person%27%20OR%20sourcedId=%27${person}%27`,
    `classes/../users/${person}`,
    `orgs/../users?schools/${invented}/students`,
    `users?filter=sourcedId=%27${person}%27`,
    `terms/../../v1p1/users`,
    `students`,
    `users/${person}`,
  ];
  for (const way of ways) {
    const path = `${roster}/${way}`;
    const { status, body } = await ask(path);
    const text = JSON.stringify(body);
    expect([way, status === 200 || status === 400, /Realinde/.test(text)]).toEqual([way, true, false]);
    if (!path.includes(person)) expect([way, text.includes(person)]).toEqual([way, false]);
  }
  const own = await ask(`${roster}/schools/${invented}/students?limit=5`);
  expect((own.body as Schemas["AppAnswer"]).body).toContain("student");
});

test("scopes of OneRoster that are ignored give an app nothing", async () => {
  const other = await make.app();
  await make.grant({ app: other.clientId, school, groups: [group] });
  const scope = ["roster-demographics.readonly", "resource.readonly", "gradebook.readonly"]
    .map((one) => `https://purl.imsglobal.org/spec/or/v1p2/scope/${one}`)
    .join(" ");
  const { body } = await postToken(service, other, { grant_type: "client_credentials", scope });
  expect(body.scope).toBe("");
  for (const path of [`${rosters[1]}/demographics`, `${rosters[1]}/users`, "/idm/ep/v1/schools"]) {
    const headers = { authorization: `Bearer ${body.access_token}` };
    expect([path, (await fetch(service.url + path, { headers })).status]).toEqual([path, 403]);
  }
});
