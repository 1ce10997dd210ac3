// @module-tag slow
import { beforeAll, expect, test, vi } from "vitest";
import { PNG } from "pngjs";
import type { GroupId } from "../../src/directory/index.ts";
import { loadDocument, listOperations, resolve } from "../../src/platform/http/index.ts";
import type { TestService } from "../support/service.ts";
import { makeStaff } from "../support/admin.ts";
import type { Browser } from "../support/browser.ts";
import { testDatabase } from "../support/database.ts";
import { inBatches } from "../support/in-batches.ts";
import { makeMakers } from "../support/make.ts";
import { makePortalUser, type PortalUser } from "../support/portal.ts";
import { basic, getAppToken, getUserTokens, giveLogin } from "../support/token.ts";
import { makeLargest } from "./loop/largest.ts";
import { leastMs, startWatched } from "./loop/start.ts";
import { faultyRoster, makeJobs, makeLargeLogin, wideRoster } from "./loop/strangers.ts";
import { documentNames } from "../exchanges/check.ts";
import { listPlaces, type Place } from "./requests/operations.ts";

// Each operation, the pages with much in them, and the jobs, once with the most that they take or show. A table has
// those during which the event loop stood still for too long.
const [people, members, printed, auditLines, rosterRows] = [2100, 200, 30, 1500, 3000];

const db = await testDatabase();
const watched = await startWatched(db.url);
// What helpers for a service in this process ask of it.
const service = { url: watched.url, db, clock: () => new Date() } as unknown as TestService;
const make = makeMakers(db, new Date());

const school = await make.school();
const groups: GroupId[] = [];
for (let n = 0; n < 30; n++) groups.push(await make.group({ school }));
const big = await make.group({ school, name: "Jahrgang 5" });
const callbacks = Array.from({ length: 100 }, (_, n) => `http://127.0.0.1:4999/${n}`.padEnd(2000, "c"));
const app = await make.app({ redirectUris: callbacks, postLogoutRedirectUris: ["http://127.0.0.1:4999/out"] });
// Before there are people whom the app would have to be told of.
await make.grant({ app: app.clientId, school, groups: [...groups, big] });
const ids = await make.people({ school, count: people, groups, groupsEach: 3 });
await db.pool.query(
  `INSERT INTO membership (group_id, person_id, school_id, role) SELECT $1, id, $2, 'STUDENT' FROM unnest($3::uuid[]) id`,
  [big, school, ids.slice(0, members)],
);
const printedIds = ids.slice(0, printed);
const small = await make.school();
const smallGroup = await make.group({ school: small });
const smallIds = await make.people({ school: small, count: 4, groups: [smallGroup], groupsEach: 1 });
const known = ids[1]!;
await db.pool.query(
  `INSERT INTO audit (id, at, action, actor_id, client_id, person_id, school_id, before, after)
   SELECT gen_random_uuid(), now() - n * interval '1 second', 'person_changed', 'person:' || of.id, $2, of.id, $3,
     '{"name":{"last":"Muster"}}', '{"name":{"last":"Muster-Beispiel"}}' FROM (SELECT $1::uuid AS id) AS of, generate_series(1, $4) n`,
  [known, app.clientId, school, auditLines],
);
await db.prisma.cardSettings.create({
  data: {
    schoolId: school,
    enabled: true,
    grades: [],
    weekdays: [],
    networks: [],
    secondStep: "PIN",
    printSecondStep: true,
    updatedAt: new Date(),
  },
});
await db.pool.query("ANALYZE");

// Of these the places have the names in capitals.
const made = { import: "", endpoint: "", wide: "", faulty: "", leftOut: "" };
const login = await makeLargeLogin(db, { url: watched.url, school });
const jobs = await makeJobs(db, { provider: login.provider, watched });
let operator: string;
let appToken: string;
let userToken: string;
let admin: PortalUser;
let partner: PortalUser;
let printPath = "";

beforeAll(async () => {
  operator = await getAppToken(service, (await makeStaff(service, "OPERATOR")).app, ["admin:read", "admin:write"]);
  const scopes = ["schools:read", "users:read", "groups:read", "people:read"] as const;
  appToken = await getAppToken(service, app, scopes);
  const ofUser = await giveLogin(db, known);
  userToken = (await getUserTokens(service, app, ofUser, { scopes: ["openid", ...scopes] })).access_token;
  admin = await makePortalUser(service, "SCHOOL_ADMIN", { schoolIds: [school] });
  partner = await makePortalUser(service, "PARTNER", { clientIds: [app.clientId] });
  await inBatches(ids.slice(0, members), (id) => (id === known ? Promise.resolve(ofUser) : giveLogin(db, id)));
  made.import = await create(`/admin/v1/imports?school=${small}`, roster, "application/octet-stream");
  made.wide = await create(`/admin/v1/imports?school=${school}`, wideRoster, "application/octet-stream");
  made.faulty = await create(`/admin/v1/imports?school=${school}`, faultyRoster, "application/octet-stream");
  made.leftOut = await create(`/admin/v1/imports?school=${school}`, faultyRoster, "application/octet-stream");
  const endpoint = { clientId: app.clientId, url: "https://93.184.215.14/events", eventTypes: ["person"] };
  made.endpoint = await create("/admin/v1/webhook-endpoints", JSON.stringify(endpoint), "application/json");
  // On a busy machine the import is answered before the roster has been read.
  const readImport = async (id: string) => {
    const { text } = await send({ path: `/admin/v1/imports/${id}`, headers: { authorization: `Bearer ${operator}` } });
    return (JSON.parse(text) as { state: string }).state;
  };
  const waitFor = (id: string) =>
    vi.waitUntil(async () => (await readImport(id)) !== "READING", { timeout: 600_000, interval: 200 });
  for (const id of [made.import, made.wide, made.faulty, made.leftOut]) await waitFor(id);
  const headers = { authorization: `Bearer ${operator}` };
  await send({ path: `/admin/v1/imports/${made.leftOut}/left-out-rows`, method: "POST", headers });
  await waitFor(made.leftOut);
  const states = await Promise.all([made.wide, made.faulty, made.leftOut].map(readImport));
  expect(states).toEqual(["UNMAPPED", "BROKEN", "READY"]);
});

/** Creates something as the operator; answers its id. */
async function create(path: string, body: string | Buffer, type: string): Promise<string> {
  const headers = { authorization: `Bearer ${operator}`, "content-type": type };
  const { status, text } = await send({ path, method: "POST", headers, body });
  expect(status, text).toBeLessThan(300);
  return (JSON.parse(text) as { id: string }).id;
}

async function preparePrint(): Promise<void> {
  const path = `/admin/v1/schools/${school}/login-cards`;
  const body = JSON.stringify({ personIds: printedIds, newPasswords: false, withQr: true });
  const headers = { authorization: `Bearer ${operator}`, "content-type": "application/json" };
  const { printId } = JSON.parse((await send({ path, method: "POST", headers, body })).text) as { printId: string };
  printPath = `${path}/prints/${printId}`;
}

type Sent = { path: string; method?: string; headers?: Record<string, string>; body?: string | Buffer | null };

async function send({
  path,
  method = "GET",
  headers = {},
  body = null,
}: Sent): Promise<{ status: number; text: string }> {
  const response = await fetch(service.url + path, { method, redirect: "manual", headers, body: body as string });
  return { status: response.status, text: Buffer.from(await response.arrayBuffer()).toString("latin1") };
}

type Attempt = {
  name: string;
  /** Returns what is wrong with the answer. */
  ask: () => Promise<unknown>;
  prepare?: (() => Promise<unknown>) | undefined;
  /** One, where only the first time costs anything; else three, because code is compiled at the first. */
  tries?: number;
};

/** What is answered wrongly, and the attempts during which the loop stood still for too long, each time. */
async function findFaults(attempts: Attempt[]): Promise<string[]> {
  const faults: string[] = [];
  await watched.takeLongestMs();
  for (const { name, ask, prepare, tries = 3 } of attempts) {
    const took: string[] = [];
    for (let left = tries; left > 0; left--) {
      if (prepare !== undefined) await prepare().then(watched.takeLongestMs);
      // Measured only for what may be too slow: it takes time itself.
      const mostMs = left === 3 ? leastMs : await watched.measureMostMs();
      const wrong = await ask();
      const ms = await watched.takeLongestMs();
      if (wrong !== undefined) faults.push(`${name}: ${String(wrong)}`);
      if (ms <= mostMs) left = 0;
      else {
        // Others may have come to the processor since it was measured.
        const most = Math.max(mostMs, await watched.measureMostMs());
        if (ms <= most) left = 0;
        else took.push(`${Math.round(ms)} of ${Math.round(most)} ms`);
      }
    }
    if (took.length === tries) faults.push(`${name}: ${took.join(", ")}`);
  }
  return faults;
}

const withoutIds = (path: string) => path.replaceAll(/[0-9a-f-]{36}/g, "…");

test("a loop that stands still is seen", async () => {
  const mostMs = await watched.measureMostMs();
  expect(await watched.block(4 * mostMs)).toBeGreaterThan(mostMs);
});

const documents = new Map(
  await Promise.all(documentNames.map(async (name) => [name, await loadDocument(name, "schultor")] as const)),
);

/** Whom an operation is about, where one of the large school would take minutes or what others need. */
const about: Record<string, string> = {
  createSchoolPasswords: `/admin/v1/schools/${small}/logins`,
  createGroupPasswords: `/admin/v1/groups/${smallGroup}/logins`,
  deletePerson: `/admin/v1/people/${smallIds[0]!}`,
  softDeletePerson: `/admin/v1/people/${smallIds[1]!}/soft-deletion`,
};
const queries: Record<string, Record<string, string>> = {
  explainSignIn: { app: app.clientId },
  getAppView: { resource: "people" },
  getAppAnswer: { path: "/idm/schulconnex/v1/personen-info" },
  getFigures: { metric: "signIns", step: "day", from: "2025-01-01T00:00:00Z", until: "2026-12-31T00:00:00Z" },
  createImport: { school: small },
};
/** What the operations with the most work answer. */
const answers: Record<string, number> = {
  createLoginCards: 201,
  printLoginCards: 200,
  putSchoolLogo: 204,
  createImport: 201,
  getPersonData: 200,
  listImportChanges: 200,
  listPersonenInfo: 200,
  putAppLogo: 204,
  getAppView: 200,
  createSandbox: 201,
};
const image = makeCostlyImage();
const roster = Buffer.from(
  `id;role;first_name;last_name;classes\n${Array.from({ length: rosterRows }, (_, n) => `p${n};STUDENT;Änne;Muster${n};5a,Chor\n`).join("")}`,
);

/** A PNG of the most pixels that a logo has, with 16 bits for each channel: a small file that takes long to decode. */
function makeCostlyImage(): Buffer {
  const [side, bitDepth] = [1024, 16] as const;
  const options = { bitDepth, colorType: 6, inputColorType: 6, inputHasAlpha: true } as const;
  const png = new PNG({ width: side, height: side, ...options });
  return PNG.sync.write(Object.assign(png, { data: new Uint16Array(side * side * 4) as unknown as Buffer }), options);
}

function bodyOf(place: Place): { type: string; body: string | Buffer } | null {
  if (place.id === "createImport") return { type: "application/octet-stream", body: roster };
  if (place.id === "createLoginCards") {
    const body = { personIds: ids.slice(0, members), newPasswords: false, withQr: true };
    return { type: "application/json", body: JSON.stringify(body) };
  }
  if (place.id === "putSchoolLogo" || place.id === "putAppLogo") return { type: "image/png", body: image };
  if (place.body === null) return null;
  if (place.body.type !== "application/json") return { type: place.body.type, body: place.body.text };
  const document = documents.get(place.document)!;
  const { operation } = listOperations(document).find((one) => one.operation.operationId === place.id)!;
  const schema = operation.requestBody!.content!["application/json"]!.schema!;
  const unused = place.id === "createPerson" ? [small] : ids;
  return {
    type: "application/json",
    body: makeLargest(document, { schema, example: JSON.parse(place.body.text), ids: unused }),
  };
}

function queryOf({ id, document: name, query }: Place): string {
  const document = documents.get(name)!;
  const { operation } = listOperations(document).find((one) => one.operation.operationId === id)!;
  const given = new URLSearchParams(queries[id] ?? {});
  for (const [parameter, example] of query) {
    const described = (operation.parameters ?? []).map((one) => resolve(document, one));
    const found = described.find((one) => one.in === "query" && one.name === parameter)!;
    if (given.has(parameter)) continue;
    if (parameter === "limit") given.set(parameter, String(resolve(document, found.schema!).maximum ?? 1000));
    else if (found.required === true) given.set(parameter, example);
  }
  return given.size === 0 ? "" : `?${given.toString()}`;
}

const isOffered = ({ statuses }: Place) => statuses.some((status) => status < 300 || status === 302 || status === 303);
const order = ["GET", "PUT", "POST", "PATCH", "DELETE"];
/** What others are about is deleted last. */
const turnOf = ({ method, id }: Place) => order.indexOf(method) + (["deleteApp", "deleteGroup"].includes(id) ? 1 : 0);
const thing = { schools: school, groups: big, users: known, people: known, apps: app.clientId };
const later = { imports: "IMPORT", "webhook-endpoints": "ENDPOINT" };
const places = (await listPlaces({ ...thing, ...later })).filter(isOffered).toSorted((a, b) => turnOf(a) - turnOf(b));

function headersOf(place: Place): Record<string, string> {
  if (place.document === "admin") return { authorization: `Bearer ${operator}` };
  if (place.document === "sign-on")
    return place.method === "POST" ? basic(app) : { authorization: `Bearer ${userToken}` };
  return { authorization: `Bearer ${place.isOfUser ? userToken : appToken}` };
}

/** The pages of the staff with the most on them, and those that everybody reads. */
const base = `/admin/schools/${school}`;
const person = `${base}/people/${known}`;
const klass = `${base}/classes/${big}`;
const pages = [
  ...[`${base}/people`, `${base}/people?search=a`, person, `${person}/data`, `${person}/apps`, `${person}/sign-in`],
  ...[`${base}/classes`, klass, `${klass}/logins`, `${klass}/add`, `${base}/credentials`, `${base}/today`],
  ...[`${base}/audit`, `${base}/audit/file`, `${base}/apps`, `${base}/apps/${app.clientId}/change`, "/account", "/"],
  ...[`${base}/apps/${app.clientId}/view?resource=people`, `${base}/apps/${app.clientId}/view/file?resource=people`],
  ...["/docs", "/docs/errors", "/docs/search?q=a", "/openapi", "/openapi/admin", "/openapi/admin.json", "/metrics"],
  ...["/docs/changelog", "/sign-in", "/health/live"],
];

/** Pages whose content is made when they are first asked for; the second time they cost nothing. */
const madeOnce = [
  "/docs",
  "/docs/search?q=school",
  "/docs/changelog",
  "/docs/errors",
  "/docs/idm",
  "/openapi/idm.json",
  "/openapi/1.1.0/idm.json",
  "/openapi/1.0.0/sign-on.json",
];

test("the first requests for what is made then let others have their turn", async () => {
  const attempts = madeOnce.map((path) => ({
    name: path,
    ask: async () => checkStatus((await fetch(service.url + path)).status, 200),
    tries: 1,
  }));
  expect((await findFaults(attempts)).join("\n")).toBe("");
});

const checkStatus = (status: number, wanted?: number) =>
  (wanted === undefined ? status < 500 : status === wanted) ? undefined : `status ${status}`;

test("pages let others have their turn", async () => {
  const attempts = pages.map((path) => ({
    name: withoutIds(path),
    ask: async () => checkStatus((await admin.browser.open(path)).status),
  }));
  expect((await findFaults(attempts)).join("\n")).toBe("");
});

/** Pages that show what strangers sent, as large as it is kept. */
const ownLogin = `${base}/own-login/${login.connectionId}`;
const rosterPage = (id: string) => `${base}/imports/${id}`;
const partnerApp = `/partner/apps/${app.clientId}`;
const ofStrangers: [() => Browser, string[]][] = [
  [() => login.contact, login.setUpPages],
  [() => admin.browser, [ownLogin, `${ownLogin}/refusals`, `${ownLogin}/links`, `${base}/own-login`]],
  [() => admin.browser, ["", "/columns"].map((end) => `${rosterPage("WIDE")}${end}`)],
  [() => admin.browser, ["", "/faults"].map((end) => `${rosterPage("FAULTY")}${end}`)],
  [() => admin.browser, ["", "/left-out", "/left-out/file"].map((end) => `${rosterPage("LEFT")}${end}`)],
  [
    () => partner.browser,
    [
      "/partner",
      partnerApp,
      ...["registration", "log", "requests", "sign-ons", "scopes"].map((end) => `${partnerApp}/${end}`),
    ],
  ],
];

test("pages of what strangers sent let others have their turn", async () => {
  const attempts = ofStrangers.flatMap(([who, paths]) =>
    paths.map((path) => ({
      name: withoutIds(path),
      ask: async () => {
        const page = path.replace("WIDE", made.wide).replace("FAULTY", made.faulty).replace("LEFT", made.leftOut);
        return checkStatus((await who().open(page)).status, 200);
      },
    })),
  );
  expect((await findFaults(attempts)).join("\n")).toBe("");
});

/** Jobs that read nothing that strangers sent: they go through rows, some at a time, or delete them in batches. */
const ofStatements = [
  ...[
    "access.countSeats",
    "access.moveIds",
    "access.sweepAnnounced",
    "access.sweepDisclosures",
    "access.sweepErasures",
  ],
  ...["access.writeLastCalls", "accounts.prepareCredentials", "admin.sweepIdempotencyKeys", "directory.purgePeople"],
  ...[
    "directory.sweepDataRequests",
    "directory.sweepHandovers",
    "directory.sweepMergers",
    "events.sweep",
    "events.sweepAudit",
  ],
  ...[
    "connections.sweep",
    "http.sweepUploads",
    "imports.sweep",
    "imports.sweepOfPeople",
    "platform.analyze",
    "retention.softDelete",
  ],
  ...["retention.sweepAudit", "sandbox.sweep", "sign-on.dropRetiredKeys", "sign-on.endSignIns"],
  ...["sign-on.limitClientTokens", "sign-on.sweepCards", "sign-on.sweepExpired", "sign-on.sweepTraces"],
  ...["sign-on.watchKeys", "traffic.flush", "traffic.flushLogs", "traffic.sweep", "traffic.sweepLogs"],
  ...["upstream.sweep", "webhooks.drop", "webhooks.endListeners", "webhooks.sweep"],
];

test("each job is given much of what strangers sent, or reads none of it", () => {
  expect([...Object.keys(jobs), ...ofStatements].sort()).toEqual(watched.jobs.toSorted());
});

test("jobs let others have their turn", async () => {
  const names = [...Object.keys(jobs), ...ofStatements];
  const attempts = names.map((name) => ({ name, ask: () => watched.runJob(name), prepare: jobs[name] }));
  expect((await findFaults(attempts)).join("\n")).toBe("");
  const runs = await db.prisma.rosterRun.findMany({ select: { outcome: true, failure: true }, distinct: ["outcome"] });
  expect(runs).toEqual([{ outcome: "WAITING", failure: null }]);
});

test("operations let others have their turn", async () => {
  const attempts = places.map((place) => {
    const given = bodyOf(place);
    let isFirst = true;
    const ask = async () => {
      const asked = place.id === "printLoginCards" ? printPath : (about[place.id] ?? place.path);
      const path = asked.replace("IMPORT", made.import).replace("ENDPOINT", made.endpoint) + queryOf(place);
      const headers = { ...headersOf(place), ...(given && { "content-type": given.type }) };
      const sent = { path, method: place.method, headers, body: given && given.body };
      let { status } = await send(sent);
      // On a busy machine the thread that checks an image, which has a low priority, may not end in its time.
      for (let left = 4; left > 0 && status === 503 && given?.body === image; left--) ({ status } = await send(sent));
      // Some things can be done only once.
      const wanted = isFirst ? answers[place.id] : undefined;
      isFirst = false;
      return checkStatus(status, wanted);
    };
    const prepare = place.id === "printLoginCards" ? preparePrint : undefined;
    return { name: `${place.document} ${place.method} ${place.id}`, ask, prepare };
  });
  expect((await findFaults(attempts)).join("\n")).toBe("");
});
