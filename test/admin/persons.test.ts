import { randomUUID } from "node:crypto";
import { beforeAll, expect, test } from "vitest";
import type { GroupId, PersonId, SchoolId } from "../../src/directory/index.ts";
import { withPrismaTransaction } from "../../src/platform/database/db.ts";
import { listOperations, loadDocument, resolve } from "../../src/platform/http/index.ts";
import { giveRole, staffRoleNames, type StaffRoleName } from "../../src/staff/index.ts";
import { admin, makeAdminClient, makeStaff, refusalOf, type AdminClient, type Sent } from "../support/admin.ts";
import { makeMakers } from "../support/make.ts";
import { startService } from "../support/service.ts";
import { getUserTokens, giveLogin } from "../support/token.ts";

// Sends every operation that says whose person it is, in every role at the person's home, at a school where they are a
// guest, and at another school.
const document = await loadDocument("admin", "schultor");
const operations = listOperations(document)
  .map(({ method, path, operation }) => ({ id: operation.operationId, method: method.toUpperCase(), path, operation }))
  .filter(({ operation }) => operation["x-person"] !== undefined)
  .sort((a, b) => (a.id < b.id ? -1 : 1));
type Place = (typeof operations)[number];
type Parameter = { in: string; name: string; required?: boolean };

const whose = ["home", "guest", "other"] as const;
type Whose = (typeof whose)[number];
type At<T> = Record<Whose, T>;

const service = await startService();
const { db } = service;
const make = makeMakers(db);
const everywhere = {
  enabled: true,
  grades: null,
  hours: null,
  networks: [],
  secondStep: "NONE",
  printSecondStep: false,
};

let schools: At<SchoolId>;
let groups: At<GroupId>;
let clientId: string;
let connectionId: string;
let operator: AdminClient;
const staff = new Map<StaffRoleName, At<AdminClient>>();

const ofEach = async <T>(make: (where: Whose) => Promise<T>): Promise<At<T>> => ({
  home: await make("home"),
  guest: await make("guest"),
  other: await make("other"),
});

beforeAll(async () => {
  schools = await ofEach(() => make.school());
  groups = await ofEach((where) => make.group({ school: schools[where] }));
  const app = await make.app({ scopes: ["openid", "admin:read", "admin:write", "people:read"] });
  ({ clientId } = app);
  for (const where of whose) await make.grant({ app: app.clientId, school: schools[where], groups: [groups[where]] });
  operator = (await makeStaff(service, "OPERATOR")).call;
  const connection = { schoolId: schools.home, profile: "ISERV", name: "IServ" };
  const { body } = await operator("POST", "/upstream-connections", { body: connection });
  connectionId = (body as { id: string }).id;
  for (const where of whose) await operator("PUT", `/schools/${schools[where]}/card-settings`, { body: everywhere });

  const teacherAt = async (where: Whose) => {
    const teacher = await make.person({ school: schools[where], role: "TEACHER" });
    await make.membership({ group: groups[where], person: teacher, role: "TEACHER" });
    const role = { role: "CLASS_TEACHER" as const, holder: { personId: teacher }, schoolIds: [schools[where]] };
    const at = service.clock();
    await withPrismaTransaction(db, (tx) => giveRole(tx, { ...role, clientIds: [] }, { giver: null, origin: { at } }));
    const scopes = ["openid", "admin:read", "admin:write"] as const;
    const { access_token: token } = await getUserTokens(service, app, await giveLogin(db, teacher), { scopes });
    return makeAdminClient(service, token);
  };
  const staffAt = async (role: StaffRoleName, where: Whose) => {
    const places = role === "PARTNER" ? { clientIds: [app.clientId] } : { schoolIds: [schools[where]] };
    return (await makeStaff(service, role, role === "OPERATOR" ? {} : places)).call;
  };
  for (const role of staffRoleNames)
    staff.set(role, await ofEach((where) => (role === "CLASS_TEACHER" ? teacherAt(where) : staffAt(role, where))));
});

type Subject = { id: PersonId; username: string; sourceId: string; cardId: string; handoverId?: string };
let count = 0;

async function makeSubject(before: Subject | undefined): Promise<Subject> {
  if (before !== undefined) await db.prisma.membership.deleteMany({ where: { personId: before.id } });
  if (before !== undefined) await db.prisma.person.updateMany({ where: { id: before.id }, data: { role: "OTHER" } });
  const sourceId = `source-${++count}`;
  const { home, guest } = schools;
  const id = await make.person({
    schools: [home, guest],
    groups: [groups.home, groups.guest],
    sourceSystemIdentifier: sourceId,
  });
  const { username } = await giveLogin(db, id);
  const card = await operator("POST", `/schools/${home}/login-cards`, {
    body: { personIds: [id], newPasswords: false, withQr: true },
  });
  const { cards } = card.body as { cards: { cardId: string }[] };
  return { id, username, sourceId, cardId: cards[0]!.cardId };
}

const missing = "019a1f2e-7c40-7d1a-9b53-2f4f0c9f4a10";

/** What stands for a value of the contract's examples. */
const valuesFor = (subject: Subject, where: Whose): Record<string, unknown> => ({
  personId: subject.id,
  person: subject.id,
  personIds: [subject.id],
  loginCardId: subject.cardId,
  schoolId: schools[where],
  school: schools[where],
  schoolIds: [schools[where]],
  groupId: groups[where],
  toSchoolId: schools.other,
  clientId,
  app: clientId,
  resource: "person",
  id: subject.id,
  sessionId: missing,
  handoverId: subject.handoverId,
  cardPrintId: missing,
  credentialBatchId: missing,
  connectionId,
  refusalId: missing,
  username: `name-${count}`,
  onlyMissing: false,
  role: undefined,
});

/** An open offer of the home school to the one where the person is a guest. */
async function makeOffer({ id: personId }: Subject): Promise<string> {
  const [id, createdAt] = [randomUUID(), service.clock()];
  const schoolsOf = { fromSchoolId: schools.home, toSchoolId: schools.guest };
  const expiresAt = new Date(createdAt.getTime() + 86_400_000);
  await db.prisma.handover.create({ data: { id, ...schoolsOf, state: "OFFERED", offered: 1, createdAt, expiresAt } });
  await db.prisma.handoverPerson.deleteMany({ where: { personId } });
  await db.prisma.handoverPerson.create({ data: { personId, handoverId: id } });
  return id;
}

async function makeLink({ id: personId }: Subject): Promise<void> {
  const account = { connectionId, issuer: "https://iserv.example", subject: personId };
  const link = { ...account, personId, linkedAt: service.clock(), linkedBy: "RULE" as const };
  await db.prisma.upstreamLink.createMany({ data: [link], skipDuplicates: true });
}

/** Has the policy of every school soft-delete the person for not having signed in. */
async function makeInactive({ id }: Subject): Promise<void> {
  const old = new Date("2025-01-01T00:00:00Z");
  await db.prisma.person.update({ where: { id }, data: { createdAt: old } });
  await db.prisma.credential.update({ where: { personId: id }, data: { updatedAt: old } });
  const policy = { inactiveMonths: 1, inactiveRoster: true, inactiveReason: "test", effectiveAt: old, updatedAt: old };
  for (const schoolId of Object.values(schools))
    await db.prisma.retentionPolicy.upsert({
      where: { schoolId },
      create: { id: randomUUID(), schoolId, ...policy },
      update: {},
    });
}

const bodies: Record<string, (of: Record<string, unknown>) => unknown> = {
  acceptHandover: () => ({ pupils: [] }),
  createHandover: ({ personIds, toSchoolId }) => ({ personIds, toSchoolId }),
  createLoginCards: ({ personIds }) => ({ personIds, newPasswords: true, withQr: true }),
  giveStaffRole: ({ personId, schoolIds }) => ({ role: "SECRETARY", holder: { personId }, schoolIds }),
  putMembership: () => ({}),
  setHomeSchool: () => ({ schoolId: schools.guest }),
  movePerson: ({ toSchoolId }) => ({ toSchoolId }),
  // A new password would end the tokens of the teachers.
  createSchoolPasswords: () => ({ onlyMissing: false, roles: ["STUDENT"] }),
};

function bodyOf({ id, operation }: Place, values: Record<string, unknown>): { body?: unknown } {
  const content = operation.requestBody?.content?.["application/json"] as { examples?: object } | undefined;
  if (content === undefined) return {};
  const [example] = Object.values(content.examples ?? {}) as never[];
  const { value } = resolve(document, example!) as unknown as { value: Record<string, unknown> };
  const replaced = Object.entries(value).map(([name, given]) => [name, values[name] ?? given]);
  return { body: bodies[id]?.(values) ?? Object.fromEntries(replaced) };
}

function send(call: AdminClient, place: Place, [subject, where]: [Subject, Whose]): Promise<Sent> {
  const values = valuesFor(subject, where);
  const path = place.path.replace(/\{(\w+)\}/g, (_all, name: string) => String(values[name]));
  const query = new URLSearchParams();
  for (const given of place.operation.parameters ?? []) {
    const { in: kind, name, required = false } = resolve(document, given) as Parameter;
    const isAsked = required || ["person", "school", "id"].includes(name);
    if (kind === "query" && isAsked) query.set(name, String(values[name]));
  }
  const address = `${path.slice(admin.length)}${query.size > 0 ? `?${query.toString()}` : ""}`;
  return call(place.method as Parameters<AdminClient>[0], address, bodyOf(place, values));
}

const unknown = ["person_not_found", "school_not_found", "group_not_found", "app_not_found"];

/** Parameters that name one person. */
const namesPerson = ({ path, operation }: Place): boolean =>
  path.includes("{personId}") ||
  path.includes("{handoverId}") ||
  (operation.parameters ?? []).some((given) => (resolve(document, given) as Parameter).name === "person");

/** What came of it, in a word; `left-out` where others were served and not the person. */
function outcomeOf(place: Place, sent: Sent, { id }: Subject): string {
  const [status, code = ""] = refusalOf(sent);
  if (status >= 300) return unknown.includes(code) ? "unknown" : code === "role_forbids" ? "-" : code;
  if (namesPerson(place) || sent.body === null) return "yes";
  const { skipped: _left, ...served } = sent.body as { skipped?: unknown; revoked?: number };
  const list = Array.isArray(sent.body) ? (sent.body as unknown[]) : served;
  const isServed = served.revoked === undefined ? JSON.stringify(list).includes(id) : served.revoked > 0;
  return isServed ? "yes" : "left-out";
}

/** What comes before, so that the operation has something to do. */
const before: Record<string, string> = {
  deletePerson: "soft-deletion",
  restorePerson: "soft-deletion",
  unblockPerson: "block",
};

const lines: string[][] = [];
let subject: Subject | undefined;

test.each(operations)("$id keeps to whose person it is", async (place) => {
  const cells = [];
  const leaked = [];
  for (const role of staffRoleNames) {
    const outcomes = [];
    for (const where of whose) {
      subject ??= await makeSubject(undefined);
      const of = subject;
      if (/handovers(\/\{|$)/.test(place.path) && place.id !== "createHandover") of.handoverId = await makeOffer(of);
      if (place.path.includes("/upstream-links")) await makeLink(of);
      if (place.id === "listRetentionPeople") await makeInactive(of);
      if (before[place.id] !== undefined) await operator("POST", `/people/${of.id}/${before[place.id]!}`);
      const sent = await send(staff.get(role)![where], place, [of, where]);
      expect([place.id, role, where, sent.status < 500]).toEqual([place.id, role, where, true]);
      expect([role, sent.status]).not.toEqual([role, 401]);
      outcomes.push(outcomeOf(place, sent, of));
      const text = JSON.stringify(sent.body);
      const secrets = [of.username, of.sourceId, groups.home, of.cardId];
      if (role !== "OPERATOR" && where !== "home" && secrets.some((secret) => text.includes(secret)))
        leaked.push([role, where]);
      if (place.method !== "GET" && sent.status < 300) subject = await makeSubject(of);
    }
    cells.push(`${role} ${outcomes.join(" / ")}`);
  }
  expect(leaked).toEqual([]);
  lines.push([place.id, String(place.operation["x-person"]), ...cells]);
  if (before[place.id] !== undefined) subject = await makeSubject(subject);
});

const head = [
  "# Each operation on people with what it needs (x-person), and for each role: at the home school of a person / at a school",
  "# where they are a guest / at another school. yes; left-out: others were served, not this person; unknown: as one that does",
  "# not exist; -: no role allows it; else the code of the refusal.",
];

test("the matrix of operations, roles and schools of a person is the committed one", async () => {
  const widths = lines[0]!.map((_cell, at) => Math.max(...lines.map((line) => line[at]!.length)));
  const rows = lines.map((line) =>
    line
      .map((cell, at) => cell.padEnd(widths[at]!))
      .join("  ")
      .trimEnd(),
  );
  await expect(`${[...head, ...rows].join("\n")}\n`).toMatchFileSnapshot("persons.txt");
});
