import { beforeAll, expect, test } from "vitest";
import { PNG } from "pngjs";
import type { ClientId } from "../../src/access/index.ts";
import { giveRole, staffRoleNames, type StaffRoleName } from "../../src/staff/index.ts";
import { withPrismaTransaction } from "../../src/platform/database/db.ts";
import { admin, makeStaff, refusalOf, type AdminClient } from "../support/admin.ts";
import { makeMakers } from "../support/make.ts";
import { hashAllQuickly } from "../support/quick-hash.ts";
import { startService } from "../support/service.ts";
import { callers as callersOf } from "../../src/admin/rights.ts";
import { listOperations, loadDocument, resolve } from "../../src/platform/http/index.ts";
import { listPlaces, type Place } from "./requests/operations.ts";

// Whoever changes the credentials of an app, or where its tokens go, has all that the app may do.
hashAllQuickly();
const env = { WEBHOOK_ALLOW_PRIVATE_ADDRESSES: "true", PAGES_NAME: "Bildungsportal Nord" };
const service = await startService({ env });
const make = makeMakers(service.db);
const school = await make.school();
const operator = await makeStaff(service, "OPERATOR");

/** Operations that name an app and leave its credentials and addresses as they are. */
const harmless = new Set([
  // By which ids the app knows people; what it may do stays the same.
  ...["createIdMove", "updateIdMove", "applyIdMove", "deleteIdMove"],
  // What schools and providers agree on: `acceptAgreement` and the like give an app no more than it is registered for.
  ...["putAgreementDraft", "putAgreementPdf", "deleteAgreementDraft", "publishAgreement"],
  ...["acceptAgreement", "withdrawAgreement", "putWithheldAttributes"],
  "requestScopes",
  "createSandbox",
  "createEndpoint",
  "createListener",
  // Its client id is that of an account at another program.
  ...["createRosterConnection", "updateRosterConnection"],
  "putGrant",
  "deleteGrant",
]);
const ids = { apps: "the-app", schools: school };
const places = (await listPlaces(ids)).filter(
  ({ document, method, path, body, id }) =>
    document === "admin" &&
    method !== "GET" &&
    (path.includes(ids.apps) || id.endsWith("Grant") || body?.text.includes('"clientId":') === true),
);
const credentials = places.filter(({ id }) => !harmless.has(id));

function send(call: AdminClient, { method, path, body }: Place, clientId: ClientId) {
  const named = (text: string) =>
    text.replace(ids.apps, clientId).replace(/"clientId":"[^"]+"/, `"clientId":"${clientId}"`);
  const given =
    body === null
      ? {}
      : { body: body.type === "application/json" ? (JSON.parse(named(body.text)) as unknown) : Buffer.from("bytes") };
  return call(method as Parameters<AdminClient>[0], named(path).slice(admin.length), given);
}

const give = (role: StaffRoleName, clientId: ClientId, clientIds: ClientId[] = []) => {
  const at = service.clock();
  const support = role === "SUPPORT" ? { reason: "Ticket 17", endsAt: new Date(at.getTime() + 86_400_000) } : {};
  const schoolIds = role === "OPERATOR" || role === "PARTNER" ? [] : [school];
  const given = { role, holder: { clientId }, schoolIds, clientIds, ...support };
  return withPrismaTransaction(service.db, (tx) => giveRole(tx, given, { giver: null, origin: { at } }));
};

async function rowOf(clientId: ClientId): Promise<string> {
  const { rows } = await service.db.pool.query<{ row: string }>(
    "SELECT app::text AS row FROM app WHERE client_id = $1",
    [clientId],
  );
  return rows[0]?.row ?? "deleted";
}

test("the operations that change the credentials of an app are these", () => {
  expect(credentials.map(({ id }) => id).sort()).toEqual([
    ...["deleteApp", "deleteAppLogo", "endOldSecret", "putAppLogo", "resumeApp", "rotateSecret"],
    ...["suspendApp", "updateApp"],
  ]);
});

const higher = staffRoleNames.filter((role) => role !== "PARTNER");
const callers: [StaffRoleName, AdminClient][] = [];
beforeAll(async () => {
  for (const role of higher.filter((one) => one !== "OPERATOR"))
    callers.push([role, (await makeStaff(service, role, { schoolIds: [school] })).call]);
});

const scoped = "scopes of the admin API";
test.each([...higher, scoped] as const)(
  "an app with %s: nobody but an operator changes its credentials",
  async (held) => {
    const app = await make.app(held === scoped ? { scopes: ["openid", "admin:read"] } : { redirectUris: [] });
    if (held !== scoped) await give(held, app.clientId);
    const partner = await makeStaff(service, "PARTNER", { clientIds: [app.clientId] });
    const before = await rowOf(app.clientId);
    const allowed: string[] = [];
    for (const [role, call] of [...callers, ["PARTNER", partner.call] as const]) {
      const tried = held === "OPERATOR" && /PARTNER|SCHOOL_ADMIN/.test(role) ? places : credentials;
      const sent = await Promise.all(
        tried.map(async (place) => ({ place, answer: await send(call, place, app.clientId) })),
      );
      for (const { place, answer } of sent)
        if (credentials.includes(place) && refusalOf(answer).join() !== "403,role_forbids")
          allowed.push(`${role} ${place.id}`);
    }
    expect([allowed, await rowOf(app.clientId)]).toEqual([[], before]);
    const path = `/apps/${app.clientId}`;
    expect((await operator.call("POST", `${path}/secret`)).status).toBe(200);
    const opened = await operator.call("PATCH", path, { body: { redirectUris: ["https://app.example/cb"] } });
    expect(opened.status).toBe(204);
  },
);

test("a partner changes an app that works for the same partner, until the app can act for people as staff", async () => {
  const app = await make.app({ scopes: ["admin:read", "admin:write"], redirectUris: [] });
  await give("PARTNER", app.clientId, [app.clientId]);
  const { call } = await makeStaff(service, "PARTNER", { clientIds: [app.clientId] });
  const path = `/apps/${app.clientId}`;
  expect((await call("POST", `${path}/secret`)).status).toBe(200);
  expect((await call("PATCH", path, { body: { name: "Automation" } })).status).toBe(204);
  const before = await rowOf(app.clientId);
  const opened = await call("PATCH", path, { body: { redirectUris: ["https://app.example/cb"] } });
  expect(refusalOf(opened)).toEqual([403, "role_forbids"]);
  expect(await rowOf(app.clientId)).toBe(before);
});

test("who holds the app's role beside PARTNER changes its credentials", async () => {
  const app = await make.app();
  await give("SECRETARY", app.clientId);
  const { app: both, call } = await makeStaff(service, "PARTNER", { clientIds: [app.clientId] });
  expect(refusalOf(await call("POST", `/apps/${app.clientId}/secret`))).toEqual([403, "role_forbids"]);
  await give("SECRETARY", both.clientId);
  expect((await call("POST", `/apps/${app.clientId}/secret`)).status).toBe(200);
});

test("the app of the command line is suspended, but changed by nobody, and has its redirect URI whatever is stored", async () => {
  const path = "/apps/schultor-cli";
  const { call } = operator;
  const stored = async () => JSON.stringify((await call("GET", path)).body);
  const before = await stored();
  const { body: listed } = await call("GET", "/apps?search=schultor-cli");
  expect(listed).toMatchObject([{ clientId: "schultor-cli", isBuiltIn: true }]);
  for (const [method, ending, given] of [
    ["PATCH", "", { body: { redirectUris: ["https://evil.example/"] } }],
    ["PATCH", "", { body: { name: "Mathe" } }],
    ["DELETE", "", {}],
    ["PUT", "/logo", { body: picture(5) }],
    ["DELETE", "/logo", {}],
  ] as const)
    expect(refusalOf(await call(method, path + ending, given)), method + ending).toEqual([403, "app_built_in"]);
  expect(await stored()).toBe(before);
  const redirectUris = ["https://evil.example/"];
  await service.db.prisma.app.update({ where: { clientId: "schultor-cli" }, data: { redirectUris } });
  const query = new URLSearchParams({
    client_id: "schultor-cli",
    response_type: "code",
    scope: "openid",
    redirect_uri: redirectUris[0]!,
    code_challenge: "x".repeat(43),
    code_challenge_method: "S256",
  });
  const answer = await fetch(`${service.url}/oauth2/auth?${query.toString()}`, { redirect: "manual" });
  expect([answer.status, answer.headers.get("location")]).toEqual([400, null]);
});

// An app that looks like another one gets the trust, and the sign-ins, that people mean for that one.
const picture = (width: number) => PNG.sync.write(new PNG({ width, height: 2 }));

const foreign = (await make.app({ name: "Mathe-Welt" })).clientId;
const own = [(await make.app({ name: "Mein Heft" })).clientId, (await make.app({ name: "Mein Buch" })).clientId];
const partner = (await makeStaff(service, "PARTNER", { clientIds: own })).call;

const names = [
  "Mathe-Welt",
  "mathe-welt",
  " MATHE  WELT",
  "Mathe‑Welt",
  "Mathe–Welt.",
  "Ｍａｔｈｅ-Welt",
  "Mathe_Welt",
  "𝐌𝐚𝐭𝐡𝐞-𝐖𝐞𝐥𝐭",
  "Māthe-Welt",
  "Mathe-WeIt",
  "Mathe-We1t",
  "\u041c\u0410\u0422\u041d\u0415 \u13b3\u13ac\u13de\u13a2",
  "Schultor",
  "Schu1tor-Support",
  "Bi1dungsp\u00f3rtal Nord",
];

test("a partner's app is called nothing that looks like the name of somebody else's app", async () => {
  const before = (await partner("GET", `/apps/${own[0]!}`)).body;
  const taken = [409, "app_name_taken"];
  for (const name of names) {
    expect(refusalOf(await partner("POST", "/apps", { body: { name } })), name).toEqual(taken);
    expect(refusalOf(await partner("PATCH", `/apps/${own[0]!}`, { body: { name } })), name).toEqual(taken);
  }
  expect((await partner("GET", `/apps/${own[0]!}`)).body).toEqual(before);
});

test("names mix no alphabets that look alike, whoever gives them; alphabets of their own are names too", async () => {
  // A Cyrillic and a Greek letter, a word that reads as Latin; a zero-width space and a bidirectional control.
  const mixed = ["M\u0430the", "Math\u03b5", "M\u0251the \u0421\u043e\u0440", "Schul\u0442or"];
  const hidden = ["Ma\u200bthe", "Mathe \u202eehtaM"];
  const { call } = operator;
  const school = (await make.school()) as string;
  for (const [name, code] of [
    ...mixed.map((text) => [text, "text_mixed_alphabets"] as const),
    ...hidden.map((text) => [text, "text_unprintable"] as const),
  ])
    for (const answer of [
      await call("POST", "/apps", { body: { name } }),
      await call("PATCH", `/apps/${own[0]!}`, { body: { provider: name } }),
      await call("PATCH", `/schools/${school}`, { body: { name } }),
    ])
      expect(refusalOf(answer), name).toEqual([400, code]);
  expect(refusalOf(await partner("PATCH", `/apps/${own[0]!}`, { body: { provider: "Schuitor" } }))).toEqual([
    409,
    "app_name_taken",
  ]);
  for (const name of ["Школа Goethe", "Αθήνα-Lernen", "日本語App", "Tシャツ", "Bär", "مدرسة Berlin"])
    expect((await call("PATCH", `/schools/${school}`, { body: { name } })).status, name).toBe(204);
});

test("other names, and those of one's own apps, are taken freely", async () => {
  for (const name of ["Mathe-Welten", "mein buch"])
    expect((await partner("POST", "/apps", { body: { name } })).status).toBe(201);
  expect((await partner("PATCH", `/apps/${own[0]!}`, { body: { name: "Mein-Buch" } })).status).toBe(204);
});

test("an operator says yes by giving the name, and the partner goes on to change the app", async () => {
  const path = `/apps/${own[1]!}`;
  expect((await operator.call("PATCH", path, { body: { name: "Mathe-Welt" } })).status).toBe(204);
  expect((await partner("PATCH", path, { body: { name: "Mathe Welt" } })).status).toBe(204);
  expect((await operator.call("POST", "/apps", { body: { name: "Mathe-Welt" } })).status).toBe(201);
});

test("a partner's app has no logo of the app of somebody else; an operator puts it", async () => {
  expect((await operator.call("PUT", `/apps/${foreign}/logo`, { body: picture(3) })).status).toBe(204);
  const put = (call: AdminClient, app: ClientId, width: number) =>
    call("PUT", `/apps/${app}/logo`, { body: picture(width) });
  expect((await put(partner, own[0]!, 4)).status).toBe(204);
  const before = (await partner("GET", `/apps/${own[0]!}`)).body;
  expect(refusalOf(await put(partner, own[0]!, 3))).toEqual([409, "app_logo_taken"]);
  expect((await partner("GET", `/apps/${own[0]!}`)).body).toEqual(before);
  expect((await put(partner, own[1]!, 4)).status).toBe(204);
  expect((await put(operator.call, own[1]!, 3)).status).toBe(204);
});

// A partner learns nothing of an id that the app was not given: it is answered as one that does not exist.
const document = await loadDocument("admin", "schultor");
const missing = "019a1f2e-7c40-7d1a-9b53-2f4f0c9f4a10";

type Given = { in: string; name: string; required?: boolean; example?: unknown; schema?: Schema };
type Schema = { format?: string; enum?: string[] };

/** Every address that a partner can read with an id in it, for each value of its other parameters. */
const readable = listOperations(document)
  .filter(({ method, operation }) => {
    const { roles } = callersOf[operation.operationId as keyof typeof callersOf];
    return method.toUpperCase() === "GET" && roles.includes("PARTNER");
  })
  .flatMap(({ path, operation }) => {
    const parameters = (operation.parameters ?? []).map((one) => resolve(document, one) as Given);
    const isId = ({ name, schema }: Given) =>
      name !== "schoolId" && resolve<Schema>(document, (schema ?? {}) as Schema).format === "uuid";
    const ofChoice = parameters.find(({ name }) => name === "resource");
    const choices = ofChoice ? (resolve<Schema>(document, ofChoice.schema!).enum ?? []) : [""];
    return parameters.filter(isId).flatMap((parameter) =>
      choices.map((choice) => ({
        id: operation.operationId,
        name: `${operation.operationId} ${parameter.name} ${choice}`.trim(),
        path,
        parameter,
        query: [
          ...(choice === "" ? [] : [["resource", choice]]),
          ...parameters
            .filter((one) => one.in === "query" && one.required === true && one !== ofChoice && one !== parameter)
            .map(({ name, example }) => [name, String(example)]),
        ] as [string, string][],
      })),
    );
  });

let reader: AdminClient;
let app: string;
let granted: string;
let hidden: string[];

beforeAll(async () => {
  const [school, foreign] = [await make.school(), await make.school()];
  const { clientId } = await make.app();
  const shown = await make.group({ school });
  await make.grant({ app: clientId, school, groups: [shown], signOn: { kind: "GROUPS", groups: [shown] } });
  hidden = [
    ...[await make.person({ school }), await make.group({ school })],
    ...[foreign, await make.person({ school: foreign }), await make.group({ school: foreign })],
  ];
  [app, granted] = [clientId, school];
  reader = (await makeStaff(service, "PARTNER", { clientIds: [clientId] })).call;
});

test("the walk has the operations that show what an app gets", () => {
  expect(readable.map(({ name }) => name)).toEqual(
    expect.arrayContaining(["getAppView id person", "listAudit person"]),
  );
});

test("an id that the app was not given is answered as one that does not exist", async () => {
  const ask = async ({ path, parameter, query }: (typeof readable)[number], id: string) => {
    const known: Record<string, string> = { schoolId: granted, clientId: app };
    if (parameter.in === "path") known[parameter.name] = id;
    const search = new URLSearchParams(query);
    if (parameter.in === "query") search.set(parameter.name, id);
    const address = path.replace(/\{(\w+)\}/g, (_all, name: string) => known[name] ?? missing);
    const { status, body, headers } = await reader("GET", `${address.replace("/admin/v1", "")}?${search.toString()}`);
    const text = JSON.stringify(body)
      .replaceAll(id, "ID")
      .replaceAll(/"requestId":"[^"]*"/g, "");
    return [status, text.replaceAll(/\\"requestId\\":\\"[^"\\]*\\"/g, ""), headers.get("content-type")];
  };
  for (const place of readable) {
    const unknown = await ask(place, missing);
    const answers = await Promise.all(hidden.map((id) => ask(place, id)));
    expect(answers, place.name).toEqual(hidden.map(() => unknown));
  }
});
