import { randomUUID } from "node:crypto";
import pg from "pg";
import { beforeAll, expect, test } from "vitest";
import type { GroupId, PersonId, SchoolId } from "../../src/directory/index.ts";
import { listOperations, loadDocument, resolve } from "../../src/platform/http/index.ts";
import { staffRoleNames, type StaffRoleName } from "../../src/staff/index.ts";
import { callers } from "../../src/admin/rights.ts";
import { makeImporter } from "../imports/rosters.ts";
import { admin, makeStaff, refusalOf, withoutRequest, makeClassTeacher } from "../support/admin.ts";
import type { AdminClient, Sent } from "../support/admin.ts";
import { atFileEnd } from "../support/file-end.ts";
import { inBatches } from "../support/in-batches.ts";
import { makeMakers } from "../support/make.ts";
import { hashAllQuickly } from "../support/quick-hash.ts";
import { startService } from "../support/service.ts";
import { giveLogin } from "../support/token.ts";

// Sends every operation that says whose person it is, in every role at the person's home, at a school where they are a
// guest, and at another school. What an operation changes is rolled back, so that each finds the same people.
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

let isRollingBack = false;
const sendStatement = pg.Client.prototype.query;
pg.Client.prototype.query = function (this: pg.Client, asked: string | pg.QueryConfig, ...given: unknown[]) {
  const isCommit = isRollingBack && (typeof asked === "string" ? asked : asked.text) === "COMMIT";
  return Reflect.apply(sendStatement, this, [isCommit ? "ROLLBACK" : asked, ...given]) as never;
} as typeof sendStatement;
atFileEnd(() => (pg.Client.prototype.query = sendStatement));

hashAllQuickly();
const service = await startService();
const { db } = service;
const make = makeMakers(db);
const { preview } = makeImporter(db);
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
let imports: At<string>;
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

  const teacherAt = async (where: Whose) =>
    (await makeClassTeacher(service, { school: schools[where], groups: [groups[where]] })).call;
  const staffAt = async (role: StaffRoleName, where: Whose) => {
    const places = role === "PARTNER" ? { clientIds: [app.clientId] } : { schoolIds: [schools[where]] };
    return (await makeStaff(service, role, role === "OPERATOR" ? {} : places)).call;
  };
  for (const role of staffRoleNames)
    staff.set(role, await ofEach((where) => (role === "CLASS_TEACHER" ? teacherAt(where) : staffAt(role, where))));

  subjects = {
    usual: await makeSubject("source-usual"),
    offered: await makeSubject("source-offered"),
    deleted: await makeSubject("source-deleted"),
    blocked: await makeSubject("source-blocked"),
  };
  imports = await ofEach(async (where) => {
    const id = where === "home" ? subjects.usual.sourceId : "1";
    const file = `id;role;first_name;last_name;classes\n${id};student;Neu;Neumann;9z\n`;
    return (await preview(file, { school: schools[where] })).id;
  });
  await operator("POST", `/people/${subjects.deleted.id}/soft-deletion`);
  await operator("POST", `/people/${subjects.blocked.id}/block`);
  handoverId = await makeOffer(subjects.offered);
  await makeLink(subjects.usual);
  await makeInactive(subjects.usual);
  isRollingBack = true;
});

type Subject = {
  id: PersonId;
  username: string;
  sourceId: string;
  cardId: string;
  dataRequestId: string;
};
let subjects: Record<"usual" | "offered" | "deleted" | "blocked", Subject>;
let handoverId: string;

async function makeSubject(sourceId: string): Promise<Subject> {
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
  const asked = await operator("POST", `/people/${id}/data-requests`, { body: { askedBy: "GUARDIAN" } });
  const { id: dataRequestId } = asked.body as { id: string };
  return { id, username, sourceId, cardId: cards[0]!.cardId, dataRequestId };
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
  importId: imports[where],
  toSchoolId: schools.other,
  clientId,
  app: clientId,
  resource: "person",
  id: subject.id,
  sessionId: missing,
  handoverId,
  dataRequestId: subject.dataRequestId,
  cardPrintId: missing,
  credentialBatchId: missing,
  connectionId,
  refusalId: missing,
  username: "another-name",
  onlyMissing: false,
  role: undefined,
});

/** An open offer of the home school to the one where the person is a guest. */
async function makeOffer({ id: personId }: Subject): Promise<string> {
  const [id, createdAt] = [randomUUID(), service.clock()];
  const schoolsOf = { fromSchoolId: schools.home, toSchoolId: schools.guest };
  const expiresAt = new Date(createdAt.getTime() + 86_400_000);
  await db.prisma.handover.create({ data: { id, ...schoolsOf, state: "OFFERED", offered: 1, createdAt, expiresAt } });
  await db.prisma.handoverPerson.create({ data: { personId, handoverId: id } });
  return id;
}

async function makeLink({ id: personId }: Subject): Promise<void> {
  const account = { connectionId, issuer: "https://iserv.example", subject: personId };
  await db.prisma.upstreamLink.create({
    data: { ...account, personId, linkedAt: service.clock(), linkedBy: "RULE" },
  });
}

/** Has the policy of every school soft-delete the person for not having signed in. */
async function makeInactive({ id }: Subject): Promise<void> {
  const old = new Date("2025-01-01T00:00:00Z");
  await db.prisma.person.update({ where: { id }, data: { createdAt: old } });
  await db.prisma.credential.update({ where: { personId: id }, data: { updatedAt: old } });
  const policy = { inactiveMonths: 1, inactiveRoster: true, inactiveReason: "test", effectiveAt: old, updatedAt: old };
  await db.prisma.retentionPolicy.createMany({
    data: Object.values(schools).map((schoolId) => ({ id: randomUUID(), schoolId, ...policy })),
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

/** The person in the state that the operation needs. */
function subjectFor({ id, path }: Place): Subject {
  if (id === "deletePerson" || id === "restorePerson") return subjects.deleted;
  if (id === "unblockPerson") return subjects.blocked;
  return /handovers(\/\{|$)/.test(path) && id !== "createHandover" ? subjects.offered : subjects.usual;
}

const head = [
  "# Each operation on people that the role has, with what it needs (x-person): at the home school of a person / at a school",
  "# where they are a guest / at another school. yes; left-out: others were served, not this person; unknown: as one that does",
  "# not exist; else the code of the refusal. test/admin/rights.txt has the operations of each role.",
];

test.each(staffRoleNames.flatMap((role) => [[role, "reads"] as const, [role, "changes"] as const]))(
  "%s %s what the file says, and no secret of a person of another school, who is as one who does not exist",
  async (role, kind) => {
    const isOwn = ({ id }: Place) => callers[id as keyof typeof callers].roles.includes(role);
    const own = operations.filter((place) => isOwn(place) && (place.method === "GET") === (kind === "reads"));
    const rows = await inBatches(own, (place) => walk(role, place), 8);
    const widths = [0, 1].map((column) => Math.max(0, ...rows.map((row) => row[column]!.length)));
    const lines = rows.map((row) => row.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join("  "));
    await expect(`${[...head, ...lines].join("\n")}\n`).toMatchFileSnapshot(`persons/${role}-${kind}.txt`);
  },
);

/** The line of one operation. */
async function walk(role: StaffRoleName, place: Place): Promise<string[]> {
  const subject = subjectFor(place);
  const secrets = [subject.username, subject.sourceId, groups.home, subject.cardId];
  const outcomes = [];
  for (const where of whose) {
    const at = [place.id, where];
    const call = staff.get(role)![where];
    const sent = await send(call, place, [subject, where]);
    expect([...at, sent.status < 500 && sent.status !== 401]).toEqual([...at, true]);
    const outcome = outcomeOf(place, sent, subject);
    outcomes.push(outcome);
    if (where === "other" && outcome === "unknown" && namesPerson(place)) {
      const nobody = await send(call, place, [{ ...subject, id: missing as PersonId }, where]);
      expect([...at, withoutRequest(sent)]).toEqual([...at, withoutRequest(nobody)]);
    }
    const text = JSON.stringify(sent.body);
    const isLeaked = role !== "OPERATOR" && where !== "home" && secrets.some((secret) => text.includes(secret));
    expect([...at, isLeaked]).toEqual([...at, false]);
  }
  return [place.id, String(place.operation["x-person"]), outcomes.join(" / ")];
}
