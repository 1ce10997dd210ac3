import { expect, test } from "vitest";
import type { components } from "../../generated/openapi/admin.ts";
import type { PersonId } from "../../src/directory/index.ts";
import { setLogin } from "../support/sign-ins.ts";
import { makeImporter } from "../imports/rosters.ts";
import { makeStaff, type Sent } from "../support/admin.ts";
import { makeBrowser } from "../support/browser.ts";
import { makeMakers } from "../support/make.ts";
import { giveRoleTo, signIn } from "../support/portal.ts";
import { setUpTotp } from "../support/second-factor.ts";
import { startService } from "../support/service.ts";
import { askFor, exchange, getUserTokens, passPages, signOn } from "../support/token.ts";

type Schemas = components["schemas"];

const service = await startService();
const { db, clock } = service;
const make = makeMakers(db);
const school = await make.school();
const group = await make.group({ school, name: "5a" });
const admin = await makeStaff(service, "SCHOOL_ADMIN", { schoolIds: [school] });
const app = await make.app({ loginUrl: "https://app.example/login" as never });
await make.grant({ app: app.clientId, school, groups: [group] });

/** The rows of all tables in which one of the words is, as it is or in a binary column. */
async function findRowsWith(words: readonly string[]): Promise<string[]> {
  const { rows: tables } = await db.pool.query<{ name: string }>(
    "SELECT quote_ident(tablename) AS name FROM pg_tables WHERE schemaname = 'public' ORDER BY 1",
  );
  const spellings = words.flatMap((word) => [
    word.toLowerCase(),
    Buffer.from(word).toString("hex"),
    Buffer.from(word.toLowerCase()).toString("hex"),
    ...(/^[0-9a-f-]{36}$/.test(word) ? [word.replaceAll("-", "")] : []),
  ]);
  const found: string[] = [];
  for (const { name } of tables) {
    const { rows } = await db.pool.query<{ row: string }>(`SELECT t::text AS row FROM ${name} AS t`);
    for (const { row } of rows) if (spellings.some((word) => row.toLowerCase().includes(word))) found.push(name);
  }
  return [...new Set(found)];
}

const { runJob } = service;

async function purge(personId: PersonId): Promise<void> {
  expect((await admin.call("POST", `/people/${personId}/soft-deletion`)).status).toBe(204);
  expect((await admin.call("DELETE", `/people/${personId}`)).status).toBe(204);
}

const name = { firstFull: "Zyxwilde Maria", firstCall: "Zyxwilde", last: "Quontamar" };
const words = ["Zyxwilde", "Quontamar", "source-qzx-77"];
const staffName = { firstFull: "Oxbrunhild", firstCall: "Oxbrunhild", last: "Vandermoll" };
const staffWords = ["Oxbrunhild", "Vandermoll", "source-vdm-78"];

async function createPupil(): Promise<{ personId: PersonId; repeat: () => Promise<Sent> }> {
  const headers = { "idempotency-key": `create-${String(clock().getTime())}` };
  const body = {
    role: "STUDENT",
    name,
    schoolIds: [school],
    groupIds: [group],
    sourceSystemIdentifier: "source-qzx-77",
  };
  const repeat = () => admin.call("POST", "/people", { body, headers });
  const made = await repeat();
  expect(made.status).toBe(201);
  expect((await repeat()).headers.get("idempotency-replayed")).toBe("true");
  return { personId: (made.body as Schemas["AdminPerson"]).id as PersonId, repeat };
}

test("nothing of a pupil is left in any table, and what was answered about them is answered to nobody again", async () => {
  const { personId, repeat } = await createPupil();
  const headers = { "idempotency-key": "logins-of-the-class" };
  const askLogins = () => admin.call("POST", `/groups/${group}/logins`, { body: { onlyMissing: true }, headers });
  const [given] = (await askLogins()).body as Schemas["NamedLoginSecret"][];
  const login = { username: given!.username, password: given!.password };
  const planted = [...words, login.username, personId];

  // Sign-ons: done, waiting for consent, waiting for the password with each kind of hint, and refused ones.
  const browser = makeBrowser(service.url);
  await browser.submit(await browser.open("/sign-in"), "/sign-in", login);
  await db.prisma.credential.update({ where: { personId }, data: { mustChange: false } });
  await signIn(makeBrowser(service.url), login);
  const tokens = await getUserTokens(service, app, login, { scopes: ["openid", "profile", "offline_access"] });
  const other = await make.app();
  await make.grant({ app: other.clientId, school });
  const atConsent = makeBrowser(service.url);
  const page = await atConsent.open(askFor(service, other, { scopes: ["openid", "profile"] }).address);
  expect((await atConsent.submit(page, "/login", login)).html).toContain("/consent");
  for (const params of [{ login_hint: login.username }, { login_hint: personId }, { id_token_hint: tokens.id_token! }])
    await makeBrowser(service.url).open(askFor(service, app, { params }).address);
  const wrong = makeBrowser(service.url);
  await passPages(wrong, await wrong.open(askFor(service, app).address), { ...login, password: "wrong" });
  const again = await signOn(service, app, login, { browser });
  await exchange(service, app, again);
  await exchange(service, app, again);
  await makeBrowser(service.url).open(
    askFor(service, app, { params: { login_hint: login.username, prompt: "none" } }).address,
  );

  // Staff: changes, cards, blocks, explanations; an import that changes them and one that waits.
  await admin.call("PATCH", `/people/${personId}`, { body: { name: { ...name, firstCall: "Zyxwilde-Anna" } } });
  await admin.call("POST", `/people/${personId}/block`);
  await admin.call("DELETE", `/people/${personId}/block`);
  const settings = {
    enabled: true,
    grades: null,
    hours: null,
    networks: [],
    secondStep: "NONE",
    printSecondStep: false,
  };
  await admin.call("PUT", `/schools/${school}/card-settings`, { body: settings });
  const cards = { personIds: [personId], newPasswords: false, withQr: true };
  expect((await admin.call("POST", `/schools/${school}/login-cards`, { body: cards })).status).toBe(201);
  const importer = makeImporter(db);
  const header = "id;role;first_name;call_name;last_name;classes";
  await importer.run(`${header}\nsource-qzx-77;student;Zyxwilde;Zyxwilde;Quontamar;5a`, { school, mode: "DELTA" });
  await service.runJob("traffic.flush");

  expect(await findRowsWith(planted)).toContain("person");
  await purge(personId);
  for (const job of ["sign-on.endSignIns", "webhooks.fanOut"])
    if (service.jobs.some((one) => one.name === job)) await runJob(job);
  expect(await findRowsWith([...words, login.username])).toEqual([]);
  // Apps have to be told whom to delete, and the contract answers 410 for the id.
  expect(await findRowsWith([personId])).toEqual(["app_event", "tombstone"]);

  for (const repeated of [await repeat(), await askLogins()]) {
    expect(repeated.status).toBe(422);
    for (const word of planted) expect(JSON.stringify(repeated.body)).not.toContain(word);
  }
});

test("nothing of somebody of the staff is left, who did things in a role", async () => {
  const personId = await make.person({
    school,
    role: "TEACHER",
    name: staffName,
    sourceSystemIdentifier: "source-vdm-78",
  });
  const login = { username: "oxbrunhild.vandermoll", password: "correct horse battery staple" };
  await setLogin(db, { personId, ...login }, { at: clock() });
  await giveRoleTo(service, personId, "SCHOOL_ADMIN", { schoolIds: [school] });
  const browser = makeBrowser(service.url);
  await signIn(browser, login);
  await setUpTotp(browser, clock, { label: "Telefon von Oxbrunhild" });
  const pupil = await make.person({ school });
  await browser.submit(await browser.open(`/admin/schools/${school}/people/${pupil}`), "/block");
  const own = await db.prisma.audit.findFirstOrThrow({ where: { personId: pupil, action: "person_blocked" } });
  expect(own.actorId).toContain(personId);
  expect(await findRowsWith([...staffWords, login.username])).toContain("person");
  await purge(personId);
  expect(await findRowsWith([...staffWords, login.username])).toEqual([]);
  expect((await findRowsWith([personId])).filter((table) => !["app_event", "tombstone"].includes(table))).toEqual([]);
});
