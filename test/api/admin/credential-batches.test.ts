import { beforeEach, expect, onTestFinished, test } from "vitest";
import type { components } from "../../../generated/openapi/admin.ts";
import type { PersonId, SchoolId } from "../../../src/directory/index.ts";
import { makeStaff, refusalOf, makeClassTeacher } from "../../support/admin.ts";
import { makeMakers } from "../../support/make.ts";
import { hashAllQuickly } from "../../support/quick-hash.ts";
import { readPages } from "../../support/read-cards.ts";
import { startService } from "../../support/service.ts";
import { getUserTokens, giveLogin, issueAppToken } from "../../support/token.ts";
import { untilWaiting } from "../../support/waiting.ts";

type Batch = components["schemas"]["CredentialBatch"];

hashAllQuickly();
const service = await startService();
const { prisma } = service.db;
const make = makeMakers(service.db);
type Staff = Awaited<ReturnType<typeof makeStaff>>;
const start = service.clock();
let school: SchoolId;
let office: Staff;
let path: string;
beforeEach(async () => {
  service.clock.set(start);
  await prisma.credentialBatch.deleteMany();
  school = await make.school();
  office = await makeStaff(service, "SECRETARY", { schoolIds: [school] });
  path = `/schools/${school}/credential-batches`;
});

const passwords = { newPasswords: true, withQr: false, onlyMissing: true };
const batchOf = ({ body }: { body: unknown }) => body as Batch;
const read = async (id: string) => batchOf(await office.call("GET", `${path}/${id}`));
const prepare = () => service.runJob("accounts.prepareCredentials");

async function fetchDocument(
  id: string,
  { of = office, query = "", key }: { of?: Staff; query?: string; key?: string } = {},
) {
  const token = await issueAppToken(service, of.app, ["admin:read", "admin:write"]);
  const headers = { authorization: `Bearer ${token}`, ...(key && { "idempotency-key": key }) };
  const response = await fetch(`${service.url}/admin/v1${path}/${id}/document${query}`, { method: "POST", headers });
  return { response, bytes: Buffer.from(await response.arrayBuffer()) };
}
const rowsOf = (bytes: Buffer) =>
  bytes
    .toString()
    .replace(/^\uFEFF/, "")
    .trim()
    .split(/\r?\n/)
    .slice(1)
    .map((row) => row.split(";"));

const named = (first: string, last: string) => ({ name: { firstFull: first, firstCall: first, last } });
const credentialOf = (personId: PersonId) => prisma.credential.findUnique({ where: { personId } });

async function makePupils() {
  const [later, first] = [await make.group({ school, name: "10a" }), await make.group({ school, name: "5b" })];
  const ada = await make.person({ school, groups: [later], ...named("Ada", "Zander") });
  const bo = await make.person({ school, groups: [first], ...named("Bo", "Äpfel") });
  const alone = await make.person({ school, groups: [], ...named("Cem", "Yıldız") });
  const withPassword = await make.person({ school, groups: [first], ...named("Dora", "Hat") });
  await giveLogin(service.db, withPassword);
  return { later, first, ada, bo, alone, withPassword };
}

async function startBatch(wishes: object): Promise<Batch> {
  const sent = await office.call("POST", path, { body: wishes });
  expect(sent.status).toBe(201);
  return batchOf(sent);
}

test("passwords of a school are valid when their maker fetches them, and not before", async () => {
  const { ada, bo, alone, withPassword } = await makePupils();
  const before = await credentialOf(withPassword);
  const batch = await startBatch(passwords);
  expect(batch).toMatchObject({ state: "PREPARING", people: 3, prepared: 0, groupIds: null, roles: ["STUDENT"] });
  expect(refusalOf(await office.call("POST", `${path}/${batch.id}/document`))).toEqual([
    409,
    "credential_batch_not_ready",
  ]);
  await prepare();
  expect(await read(batch.id)).toMatchObject({ state: "READY", prepared: 3 });
  for (const personId of [ada, bo, alone]) expect(await credentialOf(personId)).toBeNull();

  const { response, bytes } = await fetchDocument(batch.id, { query: "?format=csv", key: "first" });
  expect([response.status, response.headers.get("content-type"), response.headers.get("cache-control")]).toEqual([
    200,
    "text/csv; charset=utf-8",
    "no-store",
  ]);
  const rows = rowsOf(bytes);
  expect(rows.map(([className, name]) => [className, name])).toEqual([
    ["5b", "Bo Äpfel"],
    ["10a", "Ada Zander"],
    ["", "Cem Yıldız"],
  ]);
  const app = await make.app({ scopes: ["openid"] });
  await make.grant({ app: app.clientId, school });
  const [, , username, password] = rows[0]!;
  await getUserTokens(service, app, { username: username!, password: password! }, { scopes: ["openid"] });
  expect(await credentialOf(withPassword)).toEqual(before);

  const interrupted = await fetchDocument(batch.id, { query: "?format=csv", key: "first" });
  expect(interrupted.bytes.equals(bytes)).toBe(true);
  const refusalOfFetch = async (key?: string) => {
    const again = await fetchDocument(batch.id, key === undefined ? {} : { key });
    return [again.response.status, (JSON.parse(again.bytes.toString()) as { code: string }).code];
  };
  const fetched = [409, "credential_batch_fetched"];
  expect([await refusalOfFetch(), await refusalOfFetch("second")]).toEqual([fetched, fetched]);
  expect(await read(batch.id)).toMatchObject({ state: "HANDED_OUT", people: 3 });
  service.clock.forwardSeconds(901);
  await prepare();
  expect(await refusalOfFetch("first")).toEqual(fetched);
  expect(await prisma.credentialBatch.findUnique({ where: { id: batch.id } })).toMatchObject({ encrypted: null });
});

test("nobody but its maker sees, fetches or deletes a batch, and its secrets are stored encrypted", async () => {
  const { first } = await makePupils();
  const other = await makeStaff(service, "SECRETARY", { schoolIds: [school] });
  const batch = await startBatch({ ...passwords, groupIds: [first] });
  await prepare();
  expect((await other.call("GET", path)).body).toEqual([]);
  const gone = [404, "credential_batch_not_found"];
  expect(refusalOf(await other.call("GET", `${path}/${batch.id}`))).toEqual(gone);
  expect(refusalOf(await other.call("DELETE", `${path}/${batch.id}`))).toEqual(gone);
  expect((await fetchDocument(batch.id, { of: other })).response.status).toBe(404);
  const [stored] = await prisma.credentialBatchPerson.findMany({ where: { batchId: batch.id } });
  expect(Buffer.from(stored!.encrypted!).toString("latin1")).not.toContain("password");
  expect((await office.call("GET", path)).body).toEqual([await read(batch.id)]);
  expect((await office.call("DELETE", `${path}/${batch.id}`)).status).toBe(204);
  expect(refusalOf(await office.call("GET", `${path}/${batch.id}`))).toEqual(gone);
});

test("a batch goes on after a crash: another process continues with those who were not prepared", async () => {
  const group = await make.group({ school, name: "9d" });
  for (let count = 0; count < 12; count++) await make.person({ school, groups: [group] });
  const batch = await startBatch({ ...passwords, groupIds: [group] });
  const job = service.jobs.find(({ name }) => name === "accounts.prepareCredentials")!;
  let asked = 0;
  await job.run(Object.defineProperty(new AbortController().signal, "aborted", { get: () => ++asked > 8 }));
  const kept = await prisma.credentialBatchPerson.findMany({ where: { batchId: batch.id, encrypted: { not: null } } });
  // What a process that died left behind: a lease that nobody renews.
  const lease = (interval: string) =>
    service.db.pool.query(`UPDATE credential_batch SET lease_until = now() + interval '${interval}' WHERE id = $1`, [
      batch.id,
    ]);
  expect([kept.length > 0, kept.length < 12]).toEqual([true, true]);
  await lease("1 minute");
  await prepare();
  expect((await read(batch.id)).prepared).toBe(kept.length);
  await lease("-1 second");
  await prepare();
  expect(await read(batch.id)).toMatchObject({ state: "READY", prepared: 12 });
  const rows = await prisma.credentialBatchPerson.findMany({ where: { batchId: batch.id } });
  const all = new Map(rows.map(({ personId, encrypted }) => [personId, encrypted]));
  for (const { personId, encrypted } of kept) expect(all.get(personId)).toEqual(encrypted);
});

test("cards replace those of the people in the document, each class begins on a page, and one audit line says so", async () => {
  const none = { grades: [], weekdays: [], networks: [], printSecondStep: false };
  expect(refusalOf(await office.call("POST", path, { body: { ...passwords, withQr: true } }))).toEqual([
    409,
    "cards_disabled",
  ]);
  await prisma.cardSettings.create({
    data: { schoolId: school, enabled: true, secondStep: "NONE", updatedAt: service.clock(), ...none },
  });
  const { later, first, ada, bo, withPassword } = await makePupils();
  const guest = await make.person({ school: await make.school(), ...named("Gesa", "Gast") });
  await prisma.affiliation.create({ data: { id: guest, personId: guest, schoolId: school } });
  await make.membership({ group: first, person: guest, role: "STUDENT" });
  const batch = await startBatch({ newPasswords: false, withQr: true, onlyMissing: false, groupIds: [later, first] });
  await prepare();
  const late = await make.person({ school, groups: [first], ...named("Neu", "Dazu") });
  await prisma.person.update({ where: { id: ada }, data: { blockedAt: service.clock() } });
  const { bytes } = await fetchDocument(batch.id);
  const pages = readPages(bytes);
  expect(pages[0]).toContain("Klasse 5b · 2 Karten");
  expect(pages.join()).not.toContain("Dazu");
  expect(pages.at(-1)).toMatch(/Nicht dabei[^]*Gesa Gast[^]*Gast[^]*Ada Zander/);
  const cards = await prisma.loginCard.findMany({ where: { personId: { in: [bo, withPassword, ada, late] } } });
  expect(cards.map(({ personId }) => personId).toSorted()).toEqual([bo, withPassword].toSorted());

  const admin = await makeStaff(service, "SCHOOL_ADMIN", { schoolIds: [school] });
  const log = async (query: string) =>
    (await admin.call("GET", `/audit?school=${school}&${query}`)).body as { action: string; detail: object }[];
  expect(await log("action=login_cards_created")).toMatchObject([{ personId: null, detail: { count: 2 } }]);
  expect(await log("action=login_card_created")).toEqual([]);
  expect(await log(`action=login_card_created&person=${bo}`)).toMatchObject([{ personId: bo }]);
});

test("letters to parents have the text of the school and the card; without new passwords nothing changes", async () => {
  const { first, bo, withPassword } = await makePupils();
  const admin = await makeStaff(service, "SCHOOL_ADMIN", { schoolIds: [school] });
  const at = `/schools/${school}/parent-letter`;
  const put = (text: string | null) => admin.call("PUT", at, { body: { text } });
  expect((await admin.call("GET", at)).body).toMatchObject({
    text: null,
    defaults: { de: expect.stringContaining("{Benutzername}"), en: expect.stringContaining("{username}") },
  });
  expect(refusalOf(await put("Das Passwort ist {Passwort}."))).toEqual([400, "letter_placeholder_unknown"]);
  expect(refusalOf(await put(Array.from({ length: 41 }, () => "a").join("\n")))).toEqual([400, "letter_too_long"]);
  expect((await put("Hallo,\r\n\r\n{Name} heißt hier {Benutzername}.")).status).toBe(204);
  const letters = { newPasswords: false, withQr: false, withLetters: true, onlyMissing: false };
  expect(refusalOf(await office.call("POST", path, { body: { ...letters, roles: ["TEACHER"] } }))).toEqual([
    400,
    "letters_for_students_only",
  ]);
  const before = await credentialOf(withPassword);
  const batch = await startBatch({ ...letters, groupIds: [first] });
  await prepare();
  const pages = readPages((await fetchDocument(batch.id)).bytes);
  expect(pages).toHaveLength(2);
  expect(pages[0]).toMatch(/An die Eltern von\s+Bo Äpfel\s+Klasse 5b\s+Hallo,\s+Bo Äpfel heißt hier bo\.aepfel\d*\./);
  expect(pages.join()).not.toMatch(/Passwort/);
  expect(await credentialOf(withPassword)).toEqual(before);
  expect((await credentialOf(bo))?.passwordHash).toBeNull();
  expect((await admin.call("GET", `/audit?school=${school}&action=parent_letters_printed`)).body).toMatchObject([
    { detail: { count: 2 } },
  ]);

  expect((await put(null)).status).toBe(204);
  const withPasswords = await startBatch({ ...letters, newPasswords: true, groupIds: [first] });
  await prepare();
  const english = readPages((await fetchDocument(withPasswords.id, { query: "?language=en" })).bytes);
  expect(english[0]).toMatch(/To the parents of.*Dear parents,.*Kind regards,.*Password\s+\S{10}/s);
  expect((await credentialOf(bo))?.passwordHash).not.toBeNull();
});

test("a class teacher gets the students of their own classes, whatever they ask for", async () => {
  const { first, later, bo } = await makePupils();
  const { call } = await makeClassTeacher(service, { school, groups: [first] });
  expect(refusalOf(await call("POST", path, { body: { ...passwords, groupIds: [later] } }))).toEqual([
    404,
    "group_not_found",
  ]);
  const all = await call("POST", path, { body: { ...passwords, roles: ["STUDENT", "TEACHER"] } });
  const people = await prisma.credentialBatchPerson.findMany({ where: { batchId: batchOf(all).id } });
  expect(people.map(({ personId }) => personId)).toEqual([bo]);
});

test("nothing is started for nobody, without a wish, or as a fourth document", async () => {
  const { first } = await makePupils();
  const empty = await make.group({ school, name: "1a" });
  const refused = async (body: object) => refusalOf(await office.call("POST", path, { body }));
  expect(await refused({ ...passwords, groupIds: [empty] })).toEqual([409, "nobody_without_credentials"]);
  expect(await refused({ ...passwords, newPasswords: false })).toEqual([400, "invalid_request"]);
  for (let count = 0; count < 3; count++) await startBatch({ ...passwords, groupIds: [first] });
  expect(await refused({ ...passwords, groupIds: [first] })).toEqual([409, "too_many_credential_batches"]);
});

test("of two requests at the same time one gets the document", async () => {
  const { first } = await makePupils();
  const batch = await startBatch({ ...passwords, groupIds: [first] });
  await prepare();
  const [one, two] = await Promise.all([fetchDocument(batch.id), fetchDocument(batch.id)]);
  const answers = [one.response.status, two.response.status].toSorted();
  expect(answers).toEqual([200, 409]);
});

test("people who change while the document is made get nothing, and it can be fetched again", async () => {
  const { first, bo } = await makePupils();
  const batch = await startBatch({ ...passwords, withLetters: true, groupIds: [first] });
  await prepare();
  const client = await service.db.pool.connect();
  onTestFinished(() => client.release(true));
  await client.query("BEGIN; LOCK TABLE parent_letter IN ACCESS EXCLUSIVE MODE");
  const fetching = fetchDocument(batch.id);
  await untilWaiting(service.db, 1, { table: "parent_letter" });
  await prisma.person.update({ where: { id: bo }, data: { last: "Birne" } });
  await client.query("ROLLBACK");
  const { response, bytes } = await fetching;
  expect([response.status, JSON.parse(bytes.toString())]).toMatchObject([409, { code: "credential_batch_changed" }]);
  expect([await credentialOf(bo), (await read(batch.id)).state]).toEqual([null, "READY"]);
  const pages = readPages((await fetchDocument(batch.id)).bytes);
  expect(pages.join()).toContain("Bo Birne");
  expect((await credentialOf(bo))?.passwordHash).not.toBeNull();
});

test("what nobody fetches within a day leaves everything as it was", async () => {
  const { first, bo, withPassword } = await makePupils();
  const before = await credentialOf(withPassword);
  const batch = await startBatch({ ...passwords, onlyMissing: false, groupIds: [first] });
  await prepare();
  service.clock.forwardSeconds(86_401);
  expect((await fetchDocument(batch.id)).response.status).toBe(404);
  await prepare();
  expect([await credentialOf(bo), await credentialOf(withPassword)]).toEqual([null, before]);
  expect([await prisma.credentialBatch.count(), await prisma.credentialBatchPerson.count()]).toEqual([0, 0]);
});
