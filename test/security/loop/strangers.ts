import { randomUUID } from "node:crypto";
import { gzipSync } from "node:zlib";
import type { ClientId } from "../../../src/access/index.ts";
import { createRosterConnectionIn, makeSources } from "../../../src/connections/index.ts";
import type { SchoolId } from "../../../src/directory/index.ts";
import { withPrismaTransaction } from "../../../src/platform/database/db.ts";
import { createSetUpLinkIn, openSetUpLink } from "../../../src/upstream/index.ts";
import { recordRefusal } from "../../../src/upstream/refusals.ts";
import { makeSvwsExport } from "../../connections/replayed-svws.ts";
import { insertEvents } from "../../support/app-events.ts";
import { makeBrowser, type Browser } from "../../support/browser.ts";
import type { TestDatabase } from "../../support/database.ts";
import { makeMakers } from "../../support/make.ts";
import { serve } from "../../support/serve.ts";
import { encryptionKeys, makeRelyingParty } from "../../support/upstream.ts";
import { startUpstreamProvider, type UpstreamProvider } from "../../support/upstream-provider.ts";
import { registerEndpoint } from "../../support/webhook-changes.ts";
import type { Watched } from "./start.ts";

// As much as strangers may send: a school's own login, rosters, and the servers of apps.

const largeBytes = 1_000_000;
const [providers, receivers, events, deliveries, notices, refusals, pupils] = [20, 4, 2000, 200, 50, 150, 5000];

const texts = (count: number, length: number) => Array.from({ length: count }, (_, n) => `${n}`.padEnd(length, "ä"));

/** A table of the most columns that are read, with long headings. */
export const wideRoster = Buffer.from(
  [texts(1000, 400), ...Array.from({ length: 20 }, () => texts(1000, 40))].map((cells) => cells.join(";")).join("\n"),
);

/** A roster whose every row but one has faults and long texts. */
export const faultyRoster = Buffer.from(
  [
    "id;role;first_name;last_name;classes",
    "1;STUDENT;Änne;Muster;5a",
    ...texts(1200, 200).map((text) => `${text};NOBODY;;${text};${text}`),
  ].join("\n"),
);

/** Gives a school a login whose provider sends the most, and opens a set-up link at its result. */
export async function makeLargeLogin(
  db: TestDatabase,
  { url, school }: { url: string; school: SchoolId },
): Promise<{ connectionId: string; setUpPages: string[]; contact: Browser; provider: UpstreamProvider }> {
  const party = makeRelyingParty(db);
  const provider = await startUpstreamProvider();
  const connectionId = await party.connect(provider, school, { state: "DRAFT" });
  const at = new Date();
  const { id, token } = await withPrismaTransaction(db, (tx) =>
    createSetUpLinkIn(tx, { connectionId, days: 1 }, { at, actorId: "test" }),
  );
  await openSetUpLink(db, { token, browser: party.browser, at });
  const claims = Object.fromEntries(texts(1000, 50).map((name) => [name, "ä".repeat(300)]));
  provider.after = (path, body) => (path === "/me" ? { ...claims, ...body } : body);
  const finished = await party.signIn(provider, connectionId, { to: { test: id } });
  if (finished.kind !== "tested") throw new Error(`The test sign-in ended as ${finished.kind}.`);
  await db.prisma.upstreamSetUpLink.update({ where: { id }, data: { openedAt: null, browserHash: null } });
  const contact = makeBrowser(url);
  const shown = await contact.submit(await contact.open(`/set-up/${token}`), "/set-up");
  const address = new URL(shown.url).pathname.replace(/\/[\w-]+$/, "");
  const connection = { id: connectionId, subjectClaim: "sub", ruleClaim: "employee_id" };
  for (const [n, code] of texts(2 * refusals, 0).entries()) {
    const subject = `account-${code}`;
    const account = { issuer: provider.issuer, subject, claims: { ...claims, sub: subject, name: "ä".repeat(300) } };
    const refused = { connection, account, matches: 0, value: "ä".repeat(300), now: at };
    const of = n < refusals ? ("WAITS_FOR_STAFF" as const) : ("NOBODY_MATCHES" as const);
    await recordRefusal(db.pool, { ...refused, code: of }, encryptionKeys);
  }
  const steps = ["start", "provider", "values", "check", "result", "switch-on"];
  return { connectionId, setUpPages: steps.map((step) => `${address}/${step}`), contact, provider };
}

/** For each job that reads what strangers sent: gives it as much to do as they can. */
export async function makeJobs(
  db: TestDatabase,
  { provider, watched }: { provider: UpstreamProvider; watched: Watched },
): Promise<Record<string, () => Promise<unknown>>> {
  const make = makeMakers(db, new Date());
  const party = makeRelyingParty(db);
  for (let n = 0; n < providers; n++) await party.connect(provider, await make.school(), { state: "DRAFT" });
  const address = (path: string) => `${provider.issuer}${path}`;
  const describe = (claims: [string, unknown][]) =>
    JSON.stringify({
      issuer: provider.issuer,
      authorization_endpoint: address("/auth"),
      token_endpoint: address("/token"),
      jwks_uri: address("/jwks"),
      claims: Object.fromEntries(claims),
    });
  // Different names take longest to parse; the second has too many.
  const discoveries = [
    describe(texts(9000, 30).map((name) => [name, name])),
    describe(texts(90_000, 0).map((name) => [`c${name}`, 1])),
  ];
  let asked = 0;
  const n = Buffer.alloc(1024, 0xff).toString("base64url");
  const key = { kty: "RSA", kid: "a".repeat(1000), n, e: "AQAB", x5c: texts(90, 50) };
  const keys = JSON.stringify({ keys: Array.from({ length: 90 }, () => key) });
  provider.before = (req, res) => {
    const discovery = discoveries[asked++ % discoveries.length];
    res.setHeader("content-type", "application/json").end(req.url === "/jwks" ? keys : discovery);
    return true;
  };
  const large = Buffer.alloc(largeBytes, "a");
  const receiver = await serve((req, res) => void req.resume().on("end", () => res.writeHead(200).end(large)));
  const app = await make.app({ redirectUris: ["http://127.0.0.1:4999/callback"] });
  const clientId = app.clientId as ClientId;
  const origin = { at: new Date(), actorId: "test" };
  const policy = { allowPrivateAddresses: true };
  for (let n = 0; n < receivers; n++)
    await registerEndpoint(
      db,
      { clientId, url: `${receiver}/${n}`, eventTypes: ["person"] },
      { origin, keys: encryptionKeys, policy },
    );
  await db.prisma.app.update({ where: { clientId }, data: { backchannelLogoutUri: `${receiver}/logout` } });
  const person = await make.person({ school: await make.school() });
  const tell = (count: number) =>
    insertEvents(
      db,
      new Date(),
      texts(count, 0).map(() => ({ clientId })),
    );
  await connectPrograms(db);
  return {
    "connections.run": () =>
      db.pool.query(
        "UPDATE roster_connection SET next_run_at = now() - interval '1 minute', digest = NULL, validator = NULL",
      ),
    "upstream.refresh": () => db.pool.query("UPDATE upstream_connection SET refresh_at = now() - interval '1 minute'"),
    "webhooks.fanOut": () => tell(events),
    "webhooks.deliver": async () => {
      await db.prisma.webhookDelivery.deleteMany();
      await tell(deliveries / receivers);
      await watched.runJob("webhooks.fanOut");
      if ((await db.prisma.webhookDelivery.count()) !== deliveries) throw new Error("Nothing is to be delivered.");
    },
    "sign-on.tellLogouts": () =>
      db.prisma.logoutNotice.createMany({
        data: texts(notices, 0).map(() => {
          const at = new Date();
          return {
            id: randomUUID(),
            clientId,
            personId: person,
            sid: "s".repeat(20),
            nextAttemptAt: at,
            createdAt: at,
          };
        }),
      }),
  };
}

/** Schools whose rosters come from programs that send much, more than a page at once. */
async function connectPrograms(db: TestDatabase): Promise<void> {
  const at = new Date();
  const make = makeMakers(db, at);
  const people = texts(pupils, 100).map((text, n) => ({
    pid: `p${n}`,
    person: { name: { vorname: text, familienname: text } },
    personenkontexte: [{ id: `k${n}`, organisation: { id: "s", kennung: "4712" }, rolle: "LERN", gruppen: [] }],
  }));
  const svws = makeSvwsExport({ term: 21, schulnummer: 4711 });
  const [pupil] = svws.schueler;
  svws.schueler = texts(pupils, 100).map((text, id) => ({ ...pupil!, id, vorname: text, nachname: text }));
  const answers: Record<string, string | Buffer> = {
    "personen-info": JSON.stringify(people),
    "lernplattformen/": JSON.stringify([{ id: 4, bezeichnung: "Schultor" }]),
    "schuljahresabschnitte/": JSON.stringify([
      { id: 21, schuljahr: at.getFullYear() - 1, abschnitt: 1, idVorigerAbschnitt: null, idFolgeAbschnitt: null },
    ]),
    "/gzip": gzipSync(JSON.stringify(svws)),
  };
  const program = await serve((req, res) => {
    const [path = "", query = ""] = req.url!.split("?");
    const answer = Object.entries(answers).find(([end]) => path.endsWith(end))?.[1];
    res.writeHead(answer === undefined ? 404 : 200, { "content-type": "application/json" });
    res.end(/offset=/.test(query) ? "[]" : answer);
  });
  const kinds = [
    { officialId: "4712", kind: "SCHULCONNEX" as const, address: `${program}/personen-info` },
    {
      officialId: "4711",
      kind: "SVWS" as const,
      address: program,
      userName: "schultor",
      schema: "gymlinde",
      platform: "4",
    },
  ];
  for (const { officialId, ...of } of kinds) {
    const given = { ...of, name: of.kind, schoolIds: [await make.school({ officialId })], secret: "geheim" };
    const context = { keys: encryptionKeys, sources: makeSources({}), origin: { at, actorId: "test" } };
    const id = await withPrismaTransaction(db, (tx) => createRosterConnectionIn(tx, given, context));
    await db.prisma.rosterConnection.update({ where: { id }, data: { state: "ON", times: ["03:00"] } });
  }
}
