import { createHmac, generateKeyPairSync, randomUUID, type KeyObject } from "node:crypto";
import { PNG } from "pngjs";
import { expect, test } from "vitest";
import type { ClientId } from "../../src/access/index.ts";
import { makeImporter } from "../imports/rosters.ts";
import { makeBrowser } from "../support/browser.ts";
import { inBatches } from "../support/in-batches.ts";
import { makeMakers } from "../support/make.ts";
import { giveRoleTo, makePortalUser, type PortalUser } from "../support/portal.ts";
import { answer, startReceiver } from "../support/receiver.ts";
import { hashAllQuickly } from "../support/quick-hash.ts";
import { startService } from "../support/service.ts";
import { getAppToken, postToken } from "../support/token.ts";

hashAllQuickly();
const service = await startService({ env: { WEBHOOK_ALLOW_PRIVATE_ADDRESSES: "true" } });
const receiver = await startReceiver();
const make = makeMakers(service.db);
const { prisma } = service.db;

const partner = await makePortalUser(service, null);

/** An app of its own. One partner has all of them. */
async function makeWorld() {
  const { clientId } = await make.app({ name: "Lernapp", scopes: ["openid"] });
  await giveRoleTo(service, partner.personId, "PARTNER", { clientIds: [clientId] });
  return { clientId, browser: partner.browser, address: `/partner/apps/${clientId}` };
}

const readApp = (clientId: string) => prisma.app.findUniqueOrThrow({ where: { clientId } });

const deliver = () => service.runJob("webhooks.deliver");

async function makeEndpoint({ browser, address }: Pick<PortalUser, "browser"> & { address: string }, url: string) {
  const form = await browser.open(`${address}/webhooks/new`);
  const made = await browser.submit(form, "/webhooks/new", { url, eventType: "person" });
  const [, id] = /\/webhooks\/([0-9a-f-]{36})"/.exec(made.html) ?? [];
  return { form, made, page: `${address}/webhooks/${id}` };
}

test("a partner who also runs a school finds their own apps on the first page, whatever others there are", async () => {
  await inBatches(Array.from({ length: 51 }), () => make.app({ name: "Aaa" }), 8);
  const { clientId } = await make.app({ name: "Zuletzt" });
  const { browser, personId } = await makePortalUser(service, "SCHOOL_ADMIN", { schoolIds: [await make.school()] });
  await giveRoleTo(service, personId, "PARTNER", { clientIds: [clientId] });
  const { html } = await browser.open("/partner");
  expect(html).toContain(`/partner/apps/${clientId}"`);
  expect(html).not.toContain("Aaa");
  expect(html).not.toContain("cursor=");
});

test("a partner registers an app once, and its secret stands on that page alone", async () => {
  const { browser } = await makeWorld();
  const form = await browser.open("/partner/new");
  const fields = { name: "<script>alert(1)</script>", provider: "Verlag" };
  const made = await browser.submit(form, "/partner/new", fields);
  const again = await browser.submit(form, "/partner/new", fields);
  expect(made.html).toContain("&lt;script&gt;");
  const [, address] = /href="(\/partner\/apps\/[^"]+)"/.exec(made.html) ?? [];
  expect(await prisma.app.count({ where: { name: fields.name } })).toBe(1);
  const secretOf = (html: string) => /client secret\)<\/dt>\s*<dd><code>([^<]+)</.exec(html)?.[1];
  const secret = secretOf(made.html);
  expect(secret).toMatch(/^.{20,}$/);
  expect(secretOf(again.html)).toBe(secret);
  expect(made.url).not.toContain(secret!);
  const shown = await browser.open(address!);
  expect(shown.html).not.toContain(secret!);
  expect(shown.html).not.toContain("<script>alert");
  expect(shown.html).toContain("Rechte anfragen");
  const taken = await browser.submit(await browser.open("/partner/new"), "/partner/new", {
    name: "Neu",
    clientId: address!.split("/").at(-1)!,
  });
  expect([taken.status, taken.html]).toEqual([409, expect.stringContaining("gehört schon zu einer anderen App")]);
  expect(taken.html).toMatch(
    / name="clientId"[^>]* aria-describedby="clientId-hint clientId-fault" aria-invalid="true"/,
  );
  expect(taken.html).toContain('value="Neu"');
});

test("the registration is changed; what is refused stays as it was typed", async () => {
  const { clientId, browser, address } = await makeWorld();
  const form = await browser.open(`${address}/registration`);
  const fields = {
    name: "Lernapp 2",
    provider: "Verlag",
    descriptionDe: "Üben",
    purposeDe: "Namen zeigen",
    redirectUris: "https://a.example/cb\r\n\r\n https://b.example/cb ",
    postLogoutRedirectUris: "",
    loginUrl: "https://a.example/login",
    pkceRequired: "on",
    scope: "openid",
    scopePlatform: "old",
    idTokenAlgorithm: "ES256",
    schulconnexSpelling: "V1_7",
  };
  const saved = await browser.submit(form, "/registration", fields);
  expect(saved.html).toContain("Die Registrierung ist gespeichert.");
  expect((await browser.submit(form, "/registration", fields)).status).toBe(200);
  expect(await readApp(clientId)).toMatchObject({
    defaultScopes: ["openid"],
    scopePlatform: "old",
    name: "Lernapp 2",
    redirectUris: ["https://a.example/cb", "https://b.example/cb"],
    loginUrl: "https://a.example/login",
    idTokenAlgorithm: "ES256",
  });
  expect(saved.html).toContain('value="Verlag"');
  expect(saved.html).toContain('name="scope" value="openid" checked');
  const refused = await browser.submit(saved, "/registration", { ...fields, redirectUris: "http://insecure.example/" });
  expect([refused.status, refused.html]).toEqual([400, expect.stringContaining("muss mit https beginnen")]);
  expect(refused.html).toContain("http://insecure.example/</textarea>");
  const own = await browser.submit(saved, "/registration", { ...fields, scopePlatform: "schultor" });
  expect([own.status, own.html]).toEqual([400, expect.stringContaining("nicht unser eigener Name")]);
  expect(own.html).toMatch(/name="scopePlatform"[^>]*value="schultor"/);
  const stale = await browser.submit(form, "/registration", { ...fields, name: "Anders" });
  expect([stale.status, stale.html]).toEqual([412, expect.stringContaining('value="Lernapp 2"')]);
});

const keysOf = async (clientId: string) => {
  const { tokenEndpointAuthMethod, publicKeys, jwksUri } = await readApp(clientId);
  return { tokenEndpointAuthMethod, publicKeys, jwksUri };
};

test("an app that signs gets public keys, then the address of its keys", async () => {
  const { clientId, browser, address } = await makeWorld();
  const form = await browser.open(`${address}/registration`);
  const signs = { name: "Lernapp", scope: "openid", tokenEndpointAuthMethod: "private_key_jwt" };
  const { publicKey } = generateKeyPairSync("ec", { namedCurve: "P-256" });
  const key = { ...publicKey.export({ format: "jwk" }), kid: "2026", use: "sig", key_ops: ["verify"] };
  const written = JSON.stringify({ keys: [key] });
  const saved = await browser.submit(form, "/registration", { ...signs, publicKeys: written });
  expect(saved.html).toContain("Die Registrierung ist gespeichert.");
  const { key_ops: _, ...kept } = key;
  expect(await keysOf(clientId)).toEqual({
    tokenEndpointAuthMethod: "private_key_jwt",
    publicKeys: [kept],
    jwksUri: null,
  });
  expect(saved.html).toContain("&quot;kid&quot;: &quot;2026&quot;");
  const jwksUri = "https://127.0.0.1/jwks.json";
  const moved = await browser.submit(saved, "/registration", { ...signs, publicKeys: "", jwksUri });
  expect(moved.html).toContain(`value="${jwksUri}"`);
  expect(await keysOf(clientId)).toMatchObject({ publicKeys: [], jwksUri });
});

const messageOf = (html: string) => /<div[^>]*role="alert"[^>]*>([^]*?)<\/p>/.exec(html)?.[1];
const p256 = () => generateKeyPairSync("ec", { namedCurve: "P-256" });
const jwk = (key: KeyObject) => JSON.stringify(key.export({ format: "jwk" }));

type RefusedKeys = [what: string, typed: { publicKeys?: string; jwksUri?: string }, german: RegExp, english: RegExp];
const keySet = "https://127.0.0.1/jwks";
const shortKey = generateKeyPairSync("rsa", { modulusLength: 1024 }).publicKey;
const privateKey = { publicKeys: jwk(p256().privateKey) };
const refusedKeys: RefusedKeys[] = [
  ["neither", {}, /entweder öffentliche Schlüssel oder eine Adresse/, /either public keys or a key set URL/],
  ["both", { publicKeys: jwk(p256().publicKey), jwksUri: keySet }, /nicht beides/, /not both/],
  ["no key set", { publicKeys: "-----BEGIN PUBLIC KEY-----" }, /JSON Web Key Set/, /JSON Web Key Set/],
  ["a private key", privateKey, /privater Schlüssel.*nicht mehr geheim/, /private key.*no longer secret/],
  ["a short key", { publicKeys: jwk(shortKey) }, /2048 bis 8192 Bit/, /2048 to 8192 bits/],
  ["an address with a fragment", { jwksUri: `${keySet}#keys` }, /kein # enthalten/, /no fragment/],
];

test("what is no key of an app is refused in both languages, and stays as it was typed", async () => {
  const { clientId, address } = await makeWorld();
  const { browser } = await makePortalUser(service, "PARTNER", { clientIds: [clientId] });
  for (const [what, typed, german, english] of refusedKeys)
    for (const [language, message] of Object.entries({ de: german, en: english })) {
      const form = await browser.open(`${address}/registration?lang=${language}`);
      const fields = { name: "Lernapp", scope: "openid", tokenEndpointAuthMethod: "private_key_jwt", ...typed };
      const { status, html } = await browser.submit(form, "/registration", fields);
      expect([what, status, messageOf(html)]).toEqual([what, 400, expect.stringMatching(message)]);
      if (typed.jwksUri !== undefined) expect(html).toContain(`value="${typed.jwksUri}"`);
      expect(html).toContain('value="private_key_jwt" selected');
    }
  const kept = { tokenEndpointAuthMethod: "client_secret_basic", publicKeys: [], jwksUri: null };
  expect(await keysOf(clientId)).toEqual(kept);
});

test("a logo is uploaded and removed; what is no image is refused", async () => {
  const { browser, address } = await makeWorld();
  const page = await browser.open(`${address}/registration`);
  const [, token] = /name="token" value="([^"]+)"/.exec(page.html) ?? [];
  const upload = async (bytes: Uint8Array) => {
    const body = new FormData();
    body.set("token", token!);
    body.set("logo", new Blob([new Uint8Array(bytes)]), "logo.png");
    return browser.once(`${address}/logo`, { method: "POST", body });
  };
  const refused = await upload(Buffer.from("no image"));
  expect([refused.status, await refused.text()]).toEqual([400, expect.stringContaining("Das Bild geht nicht")]);
  expect((await upload(Buffer.alloc(300_000))).status).toBe(400);
  expect((await upload(PNG.sync.write(new PNG({ width: 8, height: 8 })))).status).toBe(303);
  const shown = await browser.open(`${address}/registration`);
  expect(shown.html).toMatch(/<img class="logo" src="\/assets\/apps\//);
  const removed = await browser.submit(shown, "/logo/deletion");
  expect(removed.html).toContain("Das Logo ist entfernt.");
});

test("a secret is rotated with an overlap, which can be ended", async () => {
  const { clientId, browser, address } = await makeWorld();
  const before = await readApp(clientId);
  const form = await browser.open(`${address}/secret`);
  const made = await browser.submit(form, "/secret", { days: "7" });
  expect(made.html).toContain("steht nur auf dieser Seite");
  const after = await readApp(clientId);
  expect(after.secretHash).not.toEqual(before.secretHash);
  expect(after.oldSecretEndsAt).toEqual(new Date("2026-02-10T08:00:00Z"));
  await browser.submit(form, "/secret", { days: "7" });
  expect((await readApp(clientId)).secretHash).toEqual(after.secretHash);
  const ended = await browser.submit(made, "/secret/end");
  expect(ended.html).toContain("gilt nicht mehr");
  expect((await readApp(clientId)).oldSecretEndsAt).toBeNull();
  expect((await browser.submit(made, "/secret/end")).status).toBe(200);
});

test("a school that syncs says when its source was last read, and when something visible changed", async () => {
  const { clientId, browser, address } = await makeWorld();
  const [read, unread, silent] = [await make.school(), await make.school(), await make.school()];
  const at = new Date("2026-02-03T08:00:00Z");
  const { run } = makeImporter(service.db, () => ({ at, actorId: "test" }));
  await run("id;role;first_name;call_name;last_name;classes;courses;status\n1;student;Ada;;Muster;5a;;\n", {
    school: read,
  });
  for (const school of [read, unread]) await make.grant({ app: clientId as ClientId, school });
  await make.grant({ app: clientId as ClientId, school: silent, sync: false });
  const { html } = await browser.open(`${address}/schools`);
  const rowOf = (school: string) => html.split("<tr>").find((row) => row.includes(school))!;
  expect(rowOf(read)).toMatch(
    /Die Quelle der Schule wurde zuletzt am 03\.02\.2026, 09:00 gelesen\. Zuletzt hat sich am [\d.]+, [\d:]+ etwas geändert/,
  );
  expect(rowOf(unread)).toMatch(
    /Eine Quelle der Schule wurde noch nicht gelesen\. Zuletzt hat sich am [\d.]+, [\d:]+ etwas/,
  );
  expect(rowOf(silent)).not.toMatch(/Quelle|Zuletzt/);
});

test("a partner switches erasures on, and sees by school what is open; what is overdue stands on the first page", async () => {
  const { clientId, browser, address } = await makeWorld();
  const shown = await browser.open(`${address}/erasures`);
  expect(shown.html).toContain("Von der App wird nichts Neues verlangt.");
  const form = await browser.open(`${address}/registration`);
  const fields = { name: "Lernapp", redirectUris: "https://lernapp.example/callback", confirmsErasures: "on" };
  const refused = await browser.submit(form, "/registration", fields);
  expect(refused.html).toContain("braucht die App das Recht users:read oder people:read");
  await prisma.app.update({ where: { clientId }, data: { scopes: ["openid", "users:read"] } });
  await browser.submit(await browser.open(`${address}/registration`), "/registration", fields);
  expect(await readApp(clientId)).toMatchObject({ confirmsErasures: true });
  const [schoolId, subjectId] = [await make.school({ name: "Waldschule" }), randomUUID()];
  const since = new Date(service.clock().getTime() - 40 * 86_400_000);
  await prisma.erasure.create({ data: { id: randomUUID(), clientId, schoolId, subjectId, since, cause: "deleted" } });
  const { html } = await browser.open(`${address}/erasures`);
  expect(html).toMatch(/Waldschule<br>.*<td>1 <span class="badge">1 überfällig<\/span>/);
  expect(html).not.toContain("nichts Neues");
  const list = await browser.open("/partner");
  expect(list.html).toContain(`${address}/erasures">Lernapp</a>`);
  for (const page of [html, list.html]) expect(page).not.toContain(subjectId);
});

test("a partner sees and downloads by school how many people used the app in a month; an operator for all apps", async () => {
  const { clientId, browser, address } = await makeWorld();
  const other = await make.app({ name: "Fremde" });
  const [schoolId, month] = [await make.school({ name: "=Waldschule" }), new Date("2026-01-01")];
  const seats = { month, schoolId, change: "", signedIn: 1204, synced: 7 };
  await prisma.seat.createMany({ data: [clientId, other.clientId].map((id) => ({ ...seats, clientId: id })) });
  await prisma.accessReport.create({
    data: { id: randomUUID(), clientId, schoolId, month, isNewest: true, type: "GROUP", trial: true },
  });
  expect((await browser.open(`${address}/usage`)).html).toContain("In diesem Monat wurde nichts gezählt.");
  const { html } = await browser.open(`${address}/usage?month=2026-01`);
  expect(html).toMatch(/=Waldschule<br>.*<td class="number">1\.204<\/td><td class="number">7<\/td>/);
  const file = await browser.open(`${address}/usage/file?month=2026-01&kind=seats`);
  expect(file.html).toMatch(new RegExp(`^2026-01;${clientId};Lernapp;${schoolId};.?'=Waldschule.?;1204;7$`, "mu"));
  const reports = await browser.open(`${address}/usage?month=2026-01&kind=reports`);
  expect(reports.html).toMatch(/<td class="number">0<\/td><td class="number">1<\/td>/);
  expect((await browser.open(`${address}/usage?month=%27&kind=x`)).status).toBe(200);
  const operator = await makePortalUser(service, "OPERATOR");
  const all = await operator.browser.open("/admin/apps/usage?month=2026-01");
  for (const app of ["Lernapp", "Fremde"]) expect(all.html).toContain(`<td>${app}</td>`);
  expect((await browser.open("/admin/apps/usage?month=2026-01")).html).not.toContain("Fremde");
});

test("a school sees and downloads how many of its people used each app, and nothing of other schools", async () => {
  const { clientId } = await makeWorld();
  const [school, other] = [await make.school({ name: "Waldschule" }), await make.school({ name: "Bergschule" })];
  const seats = { month: new Date("2026-01-01"), clientId, change: "" };
  await prisma.seat.createMany({
    data: [
      { ...seats, schoolId: school, signedIn: 31, synced: 7 },
      { ...seats, schoolId: other, signedIn: 4711, synced: 4712 },
    ],
  });
  const { browser } = await makePortalUser(service, "SCHOOL_ADMIN", { schoolIds: [school] });
  const page = `/admin/schools/${school}/usage`;
  expect((await browser.open(`/admin/schools/${school}/apps`)).html).toContain(`href="${page}"`);
  const { html } = await browser.open(`${page}?month=2026-01`);
  expect(html).toMatch(/>Lernapp<\/t[dh]><td class="number">31<\/td><td class="number">7<\/td>/);
  const file = await browser.open(`${page}/file?month=2026-01`);
  expect(file.html).toMatch(new RegExp(`^2026-01;${clientId};Lernapp;${school};Waldschule;31;7$`, "mu"));
  const asReports = await browser.open(`${page}?month=2026-01&kind=reports`);
  for (const { html: shown } of [{ html }, file, asReports]) expect(shown).not.toMatch(/Bergschule|[;>]471|kind"/);
  for (const address of [`/admin/schools/${other}/usage`, `/admin/schools/${other}/usage/file`])
    expect((await browser.open(address)).status).toBe(404);
  const secretary = await makePortalUser(service, "SECRETARY", { schoolIds: [school] });
  expect((await secretary.browser.open(page)).status).toBe(403);
});

test("scopes are asked for with a reason, once at a time", async () => {
  const { clientId, browser, address } = await makeWorld();
  const form = await browser.open(`${address}/scopes`);
  const refused = await browser.submit(form, "/scopes", { scope: "profile", reason: " " });
  expect(refused.status).toBe(400);
  const fields = { scope: "profile", reason: "Wir zeigen den Namen." };
  const asked = await browser.submit(form, "/scopes", { ...fields, once: "another" });
  expect(asked.html).toContain("Die Anfrage ist beim Betreiber.");
  expect(asked.html).toContain("Wir zeigen den Namen.");
  await browser.submit(form, "/scopes", { ...fields, once: "another" });
  expect(await prisma.scopeRequest.count({ where: { clientId } })).toBe(1);
});

test("an endpoint is added once, tested, and its delivery shows each attempt and the body", async () => {
  const world = await makeWorld();
  const { browser } = world;
  receiver.script(answer(500));
  const { form, made, page } = await makeEndpoint(world, receiver.url);
  expect(made.html).toContain("whsec_");
  await browser.submit(form, "/webhooks/new", { url: receiver.url, eventType: "person" });
  expect(await prisma.webhookEndpoint.count({ where: { clientId: world.clientId } })).toBe(1);
  const endpoint = await browser.open(page);
  expect(endpoint.html).not.toContain("whsec_");
  const sent = await browser.submit(endpoint, "/test", { eventType: "person" });
  expect(sent.url).toMatch(/\/deliveries\/\d+\?done=testSent$/);
  expect(sent.html).toContain("Bisher kein Versuch.");
  await deliver();
  const tried = await browser.open(sent.url);
  expect(tried.html).toContain("Antwort mit Status 500");
  expect(tried.html).toContain("&quot;personId&quot;");
  const after = await browser.open(page);
  expect(after.html).toContain("/deliveries/");
  expect(after.html).toContain("0 von einem Versuch");
  const foreign = sent.url.replace(world.clientId, (await makeWorld()).clientId);
  expect((await browser.open(foreign)).status).toBe(404);
});

test("an endpoint is changed, paused, switched on, gets a secret, and is deleted", async () => {
  const world = await makeWorld();
  const { browser } = world;
  const { page } = await makeEndpoint(world, `${receiver.url}/more`);
  const id = page.split("/").at(-1)!;
  const read = () => prisma.webhookEndpoint.findUniqueOrThrow({ where: { id } });
  const shown = await browser.open(page);
  const none = await browser.submit(shown, "/change", { url: "https://other.example/hook" });
  expect([none.status, none.html]).toEqual([400, expect.stringContaining('value="https://other.example/hook"')]);
  const changed = await browser.submit(shown, "/change", { url: `${receiver.url}/changed`, eventType: "group" });
  expect(changed.html).toContain("Der Webhook ist geändert.");
  expect(await read()).toMatchObject({ url: `${receiver.url}/changed` });
  const paused = await browser.submit(changed, "/state", { state: "PAUSED" });
  expect(paused.html).toContain("pausiert");
  expect((await browser.submit(changed, "/state", { state: "PAUSED" })).status).toBe(200);
  expect((await browser.submit(paused, "/state", { state: "ACTIVE" })).html).toContain("eingeschaltet");
  const rotated = await browser.submit(await browser.open(page), "/secret", { hours: "24" });
  expect(rotated.html).toContain("whsec_");
  const again = await browser.submit(await browser.open(page), "/redelivery", { since: "2026-02-01" });
  expect(again.html).toContain("0 Nachrichten werden noch einmal gesendet.");
  const last = await browser.open(page);
  expect((await browser.submit(last, "/deletion")).html).toContain("Der Webhook ist gelöscht.");
  expect((await browser.submit(last, "/deletion")).status).toBe(200);
  expect(await prisma.webhookEndpoint.count({ where: { id } })).toBe(0);
});

test("the log of an app says what changed in words, in both languages", async () => {
  const { browser, address } = await makeWorld();
  const form = await browser.open(`${address}/registration`);
  const url = "https://a.example/new";
  const fields = { name: "Lernapp", redirectUris: url, descriptionDe: "Lernt", pkceRequired: "on" };
  await browser.submit(form, "/registration", { ...fields, idTokenAlgorithm: "RS256", schulconnexSpelling: "V1_7" });
  const { html } = await browser.open(`${address}/log?action=app_updated`);
  expect(html).toContain(`<dt>Rücksprungadressen nach der Anmeldung</dt><dd>`);
  expect(html).toContain("<dt>Was die App tut (de)</dt><dd>– → Lernt</dd>");
  const english = await browser.once(`${address}/log`, { headers: { "accept-language": "en" } });
  expect(await english.text()).toContain("<dt>What the app does (de)</dt>");
});

test("a signature is examined, and the secret stands on no page, not even where the form is offered again", async () => {
  const { browser, address } = await makeWorld();
  const secret = "whsec_YW4gZXhhbXBsZSBzZWNyZXQsIG5ldmVyIHVzZSBpdCE=";
  const body = '{"event":"person"}';
  const ep = createHmac("sha256", secret).update(body).digest("hex");
  const form = await browser.open(`${address}/webhooks/signature`);
  const examine = (fields: Record<string, string>) =>
    browser.submit(form, "/webhooks/signature", { ep, body, secret, ...fields });
  const good = await examine({});
  expect(good.html).toContain("Die Signatur passt");
  const bad = await examine({ body: '{ "event": "person" }', computed: `sha256=${ep}` });
  expect(bad.html).toContain("Das passt nicht");
  expect(bad.html).toContain("neu geschrieben");
  const offered = await examine({ token: "another" });
  expect(offered.html).toContain(ep);
  const ended = await makeBrowser(service.url).submit(form, "/webhooks/signature", { ep, body, secret });
  expect(ended.html).toContain(ep);
  for (const { html } of [good, bad, offered, ended]) expect(html).not.toContain(secret.slice(6, 30));
});

test("sign-ons stand there step by step, calls are found by the id of the request", async () => {
  const app = await make.app({ scopes: ["schools:read"] });
  await giveRoleTo(service, partner.personId, "PARTNER", { clientIds: [app.clientId] });
  const { browser } = partner;
  await postToken(service, app, { grant_type: "client_credentials", scope: "nonsense" });
  const token = await getAppToken(service, app, ["schools:read"]);
  const headers = { authorization: `Bearer ${token}`, "x-request-id": "my-request-1" };
  await fetch(`${service.url}/idm/ep/v1/schools/${randomUUID()}`, { headers });
  await service.runJob("traffic.flushLogs");
  const address = `/partner/apps/${app.clientId}`;
  const signOns = await browser.open(`${address}/sign-ons`);
  expect(signOns.html).toContain("Abholen des Tokens (token)");
  expect(signOns.html).toContain("<code>invalid_scope</code>");
  expect(signOns.html).toContain("Berechtigung gefragt, die sie nicht hat");
  expect(signOns.html).toContain('href="/docs/sign-on"');
  expect(signOns.html).toContain("Was Ihre App gesendet hat");
  expect(signOns.html).toContain("<code>client_credentials</code>");
  const found = await browser.open(`${address}/requests?request=my-request-1&refused=yes`);
  expect(found.html).toContain("<code>school_not_found</code>");
  for (const other of ["another-request", "%3Cscript%3E"])
    expect((await browser.open(`${address}/requests?request=${other}`)).html).toContain("Keine Abrufe gefunden.");
});

test("an operator has the pages of every app, sets its scopes and deletes it", async () => {
  const { clientId, address } = await makeWorld();
  const { browser } = await makePortalUser(service, "OPERATOR");
  const scopes = await browser.open(`${address}/scopes`);
  const set = await browser.submit(scopes, "/scopes/set", { scope: "people:read" });
  expect(set.html).toContain("Die Rechte sind gespeichert.");
  expect(await readApp(clientId)).toMatchObject({ scopes: ["people:read"] });
  const form = await browser.open(`${address}/scopes`);
  const kept = await browser.submit(form, "/attributes", { attribute: "SCHOOL_ADDRESS" });
  expect(kept.html).toContain("Was die App lesen darf, ist gespeichert.");
  expect(await readApp(clientId)).toMatchObject({ attributes: ["SCHOOL_ADDRESS"] });
  expect((await browser.submit(form, "/attributes", {})).html).toContain('name="attribute" value="PERSON_NAME">');
  const page = await browser.open(address);
  const refused = await browser.submit(page, "/deletion", { confirmed: "other" });
  expect([refused.status, refused.html]).toEqual([
    400,
    expect.stringMatching(/Es wurde nichts geändert\.[^]*<details open><summary>App löschen/),
  ]);
  await browser.submit(page, "/deletion", { confirmed: clientId });
  expect(await prisma.app.count({ where: { clientId } })).toBe(0);
});

test("an operator suspends an app and resumes it; its partner and its schools read since when and why", async () => {
  const { clientId, address, browser: partner } = await makeWorld();
  const { browser } = await makePortalUser(service, "OPERATOR");
  const reason = "Das Secret stand im Netz.";
  const suspended = await browser.submit(await browser.open(address), "/suspension", { reason });
  expect(suspended.html).toContain("Die App ist gesperrt.");
  const own = await partner.open(address);
  expect([own.html.includes(reason), own.html.includes("/suspension")]).toEqual([true, false]);
  const school = await make.school();
  const { browser: admin } = await makePortalUser(service, "SCHOOL_ADMIN", { schoolIds: [school] });
  expect((await admin.open(`/admin/schools/${school}/apps/${clientId}`)).html).toContain(reason);
  const resumed = await browser.submit(suspended, "/suspension/end");
  expect(resumed.html).toContain("Die Sperre der App ist aufgehoben.");
  expect((await partner.open(address)).html).not.toContain(reason);
});

test("a partner makes a sandbox, sees its passwords once, plays a step and deletes it", async () => {
  const { clientId, browser, address } = await makeWorld();
  const form = await browser.open(`${address}/sandbox`);
  const made = await browser.submit(form, "/sandbox", {});
  const [, username] = /<code>(sandbox-\w+\.pupil)<\/code>/.exec(made.html) ?? [];
  expect(await prisma.credential.count({ where: { username: username! } })).toBe(1);
  const { id } = await prisma.sandbox.findFirstOrThrow({ where: { clientId } });
  const played = await browser.submit(made, `/sandbox/${id}/steps`, { step: "JOIN" });
  expect(played.html).not.toContain(username);
  expect(await prisma.sandboxStep.findMany({ select: { step: true } })).toEqual([{ step: "JOIN" }]);
  await browser.submit(played, `/sandbox/${id}/deletion`, {});
  expect(await prisma.sandbox.count({ where: { id } })).toBe(0);
});
