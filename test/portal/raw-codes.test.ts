// @module-tag slow
import { hash, randomUUID } from "node:crypto";
import { beforeAll, describe, expect, test } from "vitest";
import { loadDemoWorld } from "../../demo/load.ts";
import type { ClientId } from "../../src/access/index.ts";
import { setPasswordHash } from "../../src/accounts/index.ts";
import type { PersonId, SchoolId } from "../../src/directory/index.ts";
import { auditActions, personActor, recordAudit, recordDifference } from "../../src/events/index.ts";
import type { StaffRoleName } from "../../src/staff/index.ts";
import { findBundle } from "../contract/bundles.ts";
import { makeBrowser, type Browser } from "../support/browser.ts";
import { testDatabase } from "../support/database.ts";
import { makeMakers } from "../support/make.ts";
import { giveRoleTo, makePortalUser, signIn } from "../support/portal.ts";
import { hashQuickly } from "../support/quick-hash.ts";
import { readPdfText } from "../support/read-cards.ts";
import { makeTestClock, startService } from "../support/service.ts";

const db = await testDatabase();
const clock = makeTestClock();
await loadDemoWorld(db, {
  now: clock(),
  production: false,
  restoreWindowDays: 30,
  hashPassword: hashQuickly,
  setPasswordHash,
});
const service = await startService({ db, clock });
const make = makeMakers(db);
const [school, clientId] = ["a0000000-0000-4000-8000-000000000001" as SchoolId, "demo-lernapp" as ClientId];

/** The codes of the contract that are no words of either language. */
const codes = new Set(
  [...JSON.stringify(findBundle("admin").document).matchAll(/"enum":\[([^\]]*)\]/g)]
    .flatMap(([, values]) => [...values!.matchAll(/"([A-Z][A-Z_]{3,})"/g)].map(([, value]) => value!))
    .filter((value) => !["PASSKEY", "TOTP", "LATE", "WELL"].includes(value)),
);

/** Finds codes and ids in what a reader sees; values between `code` tags are meant for programmers. */
function findCodes(text: string): string[] {
  const words = text.match(/[\p{L}\d_-]+/gu) ?? [];
  return words.filter(
    (word) =>
      codes.has(word) ||
      /^[a-z]+(_[a-z\d]+)+$|^[A-Z\d]+(_[A-Z\d]+)+$/.test(word) ||
      /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i.test(word),
  );
}

const textOf = (html: string): string =>
  html
    .replace(/<(script|style|code|pre|textarea)\b[\s\S]*?<\/\1>/g, " ")
    .replace(/<[^>]*\b(?:aria-label|title|alt|placeholder)="([^"]*)"[^>]*>/g, " $1 ")
    .replace(/<[^>]+>/g, " ");

/** Opens each kind of page that links lead to, `each` times. */
async function walk(browser: Browser, starts: string[], each = 2): Promise<{ seen: number; found: string[] }> {
  const [queue, counts, found, opened] = [[...starts], new Map<string, number>(), new Set<string>(), new Set<string>()];
  let seen = 0;
  for (let address = queue.shift(); address !== undefined; address = queue.shift()) {
    const kind = address.replace(/[?#].*/, "").replace(/[0-9a-f-]{36}|demo-[a-z-]+/g, ":id");
    const count = counts.get(kind) ?? 0;
    if (count >= each || opened.has(address) || /\/docs(\/|$)|\/(file|csv|logo|template)$|^\/assets/.test(kind))
      continue;
    counts.set(kind, count + 1);
    opened.add(address);
    const { html, status, headers } = await browser.open(address);
    if (!(headers.get("content-type") ?? "").startsWith("text/html") || html === "") continue;
    seen += 1;
    expect(status, address).toBeLessThan(500);
    for (const code of findCodes(textOf(html))) found.add(`${kind}: ${code}`);
    for (const [, href] of html.matchAll(/<a\b[^>]*href="(\/[^"#]*)"/g)) queue.push(href!.replaceAll("&amp;", "&"));
  }
  return { seen, found: [...found] };
}

let pupil: PersonId;
let teacher: PersonId;

/** A person about whom every table holds something. */
async function makeKnown(personId: PersonId): Promise<void> {
  const at = clock();
  const bytes = new Uint8Array(hash("sha256", personId, "buffer"));
  const ofPerson = { personId, createdAt: at };
  const { prisma } = db;
  await prisma.schoolChoice.create({ data: { personId, clientId, schoolId: school } });
  await prisma.signInLimit.create({ data: { key: bytes, failures: 2, waitUntil: at, forgetAt: at, personId } });
  await prisma.logoutNotice.create({
    data: { id: randomUUID(), clientId, sid: "sid", nextAttemptAt: at, ...ofPerson },
  });
  const factor = { kind: "TOTP" as const, label: "Telefon", secret: bytes, transports: [] };
  await prisma.secondFactor.create({ data: { id: randomUUID(), ...factor, ...ofPerson } });
  const card = { schoolId: school, tokenHash: bytes, secondStep: "NONE" as const };
  await prisma.loginCard.create({ data: { id: randomUUID(), ...card, ...ofPerson } });
  await prisma.consent.upsert({
    where: { personId_clientId: { personId, clientId } },
    create: { clientId, personId, scopes: ["openid", "profile", "school_name"], grantedAt: at },
    update: {},
  });
  const classes = { classesBefore: ["5a"], classesAfter: ["6a"] };
  const ofImport = { id: randomUUID(), at, schoolId: school, importId: randomUUID() };
  await prisma.personImport.create({ data: { ...ofImport, personId, change: "CLASSES", ...classes } });
}

beforeAll(async () => {
  const group = await make.group({ school, name: "5a" });
  pupil = await make.person({
    school,
    groups: [group],
    name: { firstFull: "Bo Emil", firstCall: "Bo", last: "Muster" },
    sourceSystemIdentifier: "S-4711",
  });
  teacher = await make.person({
    school,
    role: "TEACHER",
    name: { firstFull: "Tea", firstCall: "Tea", last: "Lehrig" },
  });
  await giveRoleTo(service, teacher, "SECRETARY", { schoolIds: [school] });
  await giveRoleTo(service, teacher, "SUPPORT", { schoolIds: [school] });
  for (const personId of [pupil, teacher]) await makeKnown(personId);
  const actors = [undefined, "purge", personActor(teacher), personActor(teacher), `app:${clientId}`];
  for (const [index, action] of auditActions.entries()) {
    const requestId = randomUUID();
    const origin = { at: clock(), actorId: actors[index % actors.length], requestId };
    const actorRole = origin.actorId === personActor(teacher) ? "SECRETARY" : undefined;
    await recordAudit(db, { ...origin, actorRole, action, schoolId: school, clientId, personId: pupil });
    const before = { role: "STUDENT", scopes: ["openid", "schools:read"], userNameRule: "FIRST_DOT_LAST", groups: [] };
    const after = {
      role: "TEACHER",
      scopes: [],
      type: "KLASSE",
      endsAt: clock().toISOString(),
      schoolIds: [school, randomUUID()],
      holder: { personId: randomUUID(), clientId: null },
      groups: [{ id: randomUUID(), name: "5a", status: "ACTIVE" }],
      attributes: ["PERSON_NAME"],
      idTokenAlgorithm: "ES256",
      schulconnexSpelling: "V1_7",
      eventTypes: ["person"],
      reason: "failing",
    };
    await recordDifference(db, { at: origin.at, requestId }, { before, after });
    clock.forwardSeconds(1);
  }
});

const readers: [role: StaffRoleName, starts: string[]][] = [
  ["OPERATOR", ["/admin", "/admin/schools/new"]],
  ["SCHOOL_ADMIN", [`/admin/schools/${school}/today`, "/account", "/"]],
  ["CLASS_TEACHER", [`/admin/schools/${school}/classes`]],
  ["PARTNER", ["/partner"]],
];

describe("no page shows a code or an id:", () => {
  test.each(readers)("%s, in German and English", async (role, starts) => {
    const scope = role === "PARTNER" ? { clientIds: [clientId] } : role === "OPERATOR" ? {} : { schoolIds: [school] };
    const { browser } = await makePortalUser(service, role, scope);
    const more = role === "SCHOOL_ADMIN" ? [pupil, teacher].map((id) => `/admin/schools/${school}/people/${id}`) : [];
    for (const language of ["de", "en"]) {
      await browser.open(`/?lang=${language}`);
      const { seen, found } = await walk(browser, [...more, ...starts]);
      expect(found, language).toEqual([]);
      expect(seen).toBeGreaterThan(role === "CLASS_TEACHER" ? 3 : 8);
    }
  });

  test("a pupil, in German and English", async () => {
    const browser = makeBrowser(service.url);
    await signIn(browser, { username: "student.goethe", password: "demo-student-goethe" });
    for (const language of ["de", "en"]) {
      await browser.open(`/?lang=${language}`);
      expect((await walk(browser, ["/", "/account"])).found, language).toEqual([]);
    }
  });
});

test("the states of a school are listed by their name", async () => {
  const { browser } = await makePortalUser(service, "OPERATOR");
  for (const [language, first] of [
    ["de", "Baden-Württemberg"],
    ["en", "Baden-Württemberg"],
  ] as const) {
    const { html } = await browser.open(`/admin/schools/new?lang=${language}`);
    const select = /<select id="state"[\s\S]*?<\/select>/.exec(html)![0];
    const names = [...select.matchAll(/value="[A-Z]{2}"[^>]*>([^<]+)</g)].map(([, name]) => name!);
    expect(names).toHaveLength(16);
    expect(names[0]).toBe(first);
    expect(names).toEqual([...names].sort((a, b) => a.localeCompare(b, language)));
  }
});

describe("the response to a data access request", () => {
  const readLetter = async (browser: Browser, personId: PersonId, language: string) => {
    const address = `/admin/schools/${school}/people/${personId}/data`;
    const shown = await browser.open(`${address}?lang=${language}`);
    const token = /name="token" value="([^"]*)"/.exec(shown.html)?.[1] ?? "";
    const response = await browser.once(`${address}/pdf`, { method: "POST", body: new URLSearchParams({ token }) });
    const pdf = Buffer.from(await response.arrayBuffer());
    return readPdfText(pdf);
  };

  test.each([
    ["de", /Auskunft nach Artikel 15 DSGVO/, /Datenschutz-Aufsichtsbehörde für Niedersachsen/, /30 Tage lang/],
    ["en", /Art\. 15 GDPR/, /data protection authority for Lower Saxony/, /restored for 30 days/],
  ])("is a letter of the school without codes and ids, in %s", async (language, title, authority, period) => {
    const { browser } = await makePortalUser(service, "SCHOOL_ADMIN", { schoolIds: [school] });
    for (const personId of [pupil, teacher]) {
      const text = await readLetter(browser, personId, language);
      const flowing = text.replace(/\s+/g, " ");
      expect(flowing.slice(0, 200)).toContain("Goethe-Gymnasium");
      for (const part of [title, authority, period, /Lernapp/, /Telefon/, /5a/]) expect(flowing).toMatch(part);
      expect(findCodes(text)).toEqual([]);
      // Names of the contract, such as firstCall or hasLogin.
      expect(text.match(/\b[a-z]+[A-Z]\w*|\{\{|undefined|\[object/g) ?? []).toEqual([]);
    }
  });
});
