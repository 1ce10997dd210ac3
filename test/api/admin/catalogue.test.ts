import { expect, test } from "vitest";
import type { components } from "../../../generated/openapi/admin.ts";
import { makeStaff, refusalOf, withoutRequest } from "../../support/admin.ts";
import { makeMakers } from "../../support/make.ts";
import { startService } from "../../support/service.ts";

type CatalogueApp = components["schemas"]["CatalogueApp"];

const service = await startService();
const make = makeMakers(service.db);
const [school, otherSchool] = [await make.school(), await make.school()];
const [b, a] = [await make.group({ school, name: "5b" }), await make.group({ school, name: "5a" })];
const [zebra, apfel] = [
  await make.app({ name: "Zebra" }),
  await make.app({ name: "Äpfel", loginUrl: "https://a.example/" }),
];
const program = await make.app({ name: "Program", scopes: ["admin:read", "admin:write"] });
const withdrawn = await make.app({ name: "Withdrawn", scopes: [] });
await make.grant({ app: zebra.clientId, school, groups: [b, a], signOn: { kind: "GROUPS", groups: [b] } });
await make.grant({ app: withdrawn.clientId, school });
await make.grant({ app: apfel.clientId, school: otherSchool });
const person = await make.person({ school });
const admin = await makeStaff(service, "SCHOOL_ADMIN", { schoolIds: [school] });
const partner = await makeStaff(service, "PARTNER", { clientIds: [zebra.clientId] });

const list = async (query = "") => {
  const { body } = await admin.call("GET", `/schools/${school}/catalogue${query}`);
  return body as CatalogueApp[];
};
const names = (apps: CatalogueApp[]) => apps.map(({ name }) => name);

test("a school sees the apps that may ask for data, and those that it gave something, by name and in pages", async () => {
  expect(names(await list())).toEqual(["Äpfel", "Withdrawn", "Zebra"]);
  expect(names(await list("?granted=true"))).toEqual(["Withdrawn", "Zebra"]);
  expect(names(await list("?granted=false"))).toEqual(["Äpfel"]);
  expect(names(await list("?search=äpf"))).toEqual(["Äpfel"]);
  const first = await admin.call("GET", `/schools/${school}/catalogue?limit=2`);
  const next = /<\/admin\/v1([^>]+)>/.exec(first.headers.get("link") ?? "")![1]!;
  expect(names((await admin.call("GET", next)).body as CatalogueApp[])).toEqual(["Zebra"]);
});

test("an app comes with its grant in words, the groups by name, and the last sign-in of anybody of the school", async () => {
  await make.signIn({ app: zebra.clientId, person });
  await make.signIn({ app: apfel.clientId, person: await make.person({ school: otherSchool }) });
  const path = `/schools/${school}/catalogue/${zebra.clientId}`;
  const one = await admin.call("GET", path);
  const groups = [
    { id: a, name: "5a" },
    { id: b, name: "5b" },
  ];
  expect(one.body).toMatchObject({
    ...{ clientId: zebra.clientId, provider: null, logoPath: null, hasTile: false },
    lastSignInAt: "2026-02-03T08:00:00.000Z",
    grant: {
      signOn: { kind: "GROUPS", roles: [], groupIds: [b] },
      ...{ signOnGroups: [{ id: b, name: "5b" }], sync: true, syncedGroups: groups },
    },
  });
  const listed = await list();
  expect(listed).toContainEqual(one.body);
  expect(listed[0]).toMatchObject({ name: "Äpfel", hasTile: true, grant: null, lastSignInAt: null });
  await service.db.prisma.signIn.updateMany({ data: { lastSignInAt: new Date("2026-02-04T08:00:00Z") } });
  const later = await admin.call("GET", path);
  expect(later.body).toMatchObject({ lastSignInAt: "2026-02-04T08:00:00.000Z" });
  expect(later.headers.get("etag")).toBe(one.headers.get("etag"));
});

test("a program of the staff is in no catalogue, and a partner has none", async () => {
  for (const { clientId } of [program, { clientId: "none" }]) {
    const sent = await admin.call("GET", `/schools/${school}/catalogue/${clientId}`);
    expect(refusalOf(sent)).toEqual([404, "app_not_found"]);
  }
  expect(refusalOf(await partner.call("GET", `/schools/${school}/catalogue`))).toEqual([403, "role_forbids"]);
});

test("another school's catalogue is answered as one of a school that does not exist", async () => {
  const unknown = "00000000-0000-4000-8000-000000000001";
  for (const rest of ["", `/${apfel.clientId}`]) {
    const [hidden, missing] = [
      await admin.call("GET", `/schools/${otherSchool}/catalogue${rest}`),
      await admin.call("GET", `/schools/${unknown}/catalogue${rest}`),
    ];
    expect([hidden.status, withoutRequest(hidden)]).toEqual([404, withoutRequest(missing)]);
  }
});
