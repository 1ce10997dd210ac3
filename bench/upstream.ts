// Sign-ons through the login that a school has elsewhere, against those with a session and with a password of this
// service; and sign-ons of a school beside another one whose login hangs. The logins run in a process of their own.
import type { ClientId } from "../src/access/index.ts";
import { readConfig } from "../src/config/index.ts";
import type { PersonId, SchoolId } from "../src/directory/index.ts";
import { withPrismaTransaction } from "../src/platform/database/db.ts";
import { createConnectionIn, putWayInIn, updateConnectionIn, type ConnectionId } from "../src/upstream/index.ts";
import { makeMakers } from "../test/support/make.ts";
import { giveLogin, type Login } from "../test/support/token.ts";
import { openBenchDatabase } from "./database.ts";
import { compare, costHead, measureFlow, reportCost, startSubject } from "./harness.ts";
import { makeBrowser, openNetwork, type Browser, type Page } from "./monday/browser.ts";
import { authorizationUrl, redeemCode, signOn } from "./sign-on.ts";

const [seconds, rounds] = [Number(process.env["BENCH_SECONDS"] ?? 6), Number(process.env["BENCH_ROUNDS"] ?? 5)];
const connections = 16;
/** Of the school beside: pupils who arrive, whoever is still waiting, and people who sign in meanwhile. */
const [arrivalsPerSecond, others] = [8, 4];
const network = openNetwork(200);
const database = await openBenchDatabase();
const { db } = database;
const make = makeMakers(db);
const { encryptionKeys: keys } = readConfig({ ...process.env, NODE_ENV: "development" });

const service = await startSubject("service", "./subjects/service.ts", {
  DATABASE_URL: database.url,
  LOG_LEVEL: "error",
  WEBHOOK_ALLOW_PRIVATE_ADDRESSES: "true",
});
const provider = await startSubject("provider", "./subjects/upstream-provider.ts", {});
const app = await make.app({ clientId: "bench" as ClientId });

type School = { id: SchoolId; connectionId: ConnectionId; linkName: string };
type Pupil = { school: School; personId: PersonId; login: Login; cookies: Map<string, string> };

async function makeSchool(issuer: string): Promise<School> {
  const id = await make.school();
  const linkName = `school-${id}`;
  await make.grant({ app: app.clientId, school: id });
  const context = { keys, allowHttp: true, origin: { at: new Date(), actorId: "bench" } };
  const wishes = { profile: "OIDC" as const, name: "Own login", clientId: "bench", clientSecret: "bench-secret" };
  const rule = { ruleClaim: "sub", ruleField: "PERSON_ID" as const };
  const connectionId = await withPrismaTransaction(db, async (tx) => {
    await putWayInIn(tx, { schoolId: id, linkName, localPasswords: true }, context.origin);
    const made = await createConnectionIn(tx, { schoolId: id, issuer, ...wishes, ...rule }, context);
    await tx.prisma.upstreamConnection.update({ where: { id: made }, data: { testedAt: new Date() } });
    await updateConnectionIn(tx, { id: made, update: { state: "ON" } }, context);
    return made;
  });
  return { id, connectionId, linkName };
}

async function makePupil(school: School): Promise<Pupil> {
  const personId = await make.person({ school: school.id });
  return { school, personId, login: await giveLogin(db, personId), cookies: new Map() };
}

let visits = 0;
const openBrowser = (cookies: Map<string, string>): Browser =>
  makeBrowser(service, network.agentOf((visits += 1)), cookies);

/** Ends at the app; the first time over the page that asks for consent. */
async function finish(browser: Browser, page: Page, verifier: string): Promise<void> {
  const shown = page.html.includes('/consent"') ? await browser.post(page, "/consent") : page;
  const code = shown.url.searchParams.get("code");
  if (code === null) throw new Error(`no code: ${shown.url.href} ${shown.html.slice(0, 200)}`);
  const { status } = await redeemCode({ url: service.url, app, cookies: "" }, { code, verifier });
  if (status !== 200) throw new Error(`the code was answered ${status}`);
}

type Way = (browser: Browser, page: Page, pupil: Pupil) => Promise<Page>;

const withPassword: Way = (browser, page, { login }) => browser.post(page, "/login", login);

/** The provider's own pages are left out: its code is the account. */
const answerThere: Way = async (browser, there, { personId: sub }) => {
  const { searchParams: asked, pathname } = there.url;
  const clientId = asked.get("client_id");
  if (clientId === null) throw new Error(`not at the provider but at ${pathname}: ${there.html.slice(0, 200)}`);
  const back = new URL(asked.get("redirect_uri")!);
  const code = JSON.stringify({ sub, clientId, nonce: asked.get("nonce") });
  back.search = new URLSearchParams({ code, state: asked.get("state")! }).toString();
  return browser.open(back.href);
};

const throughUpstream: Way = async (browser, page, pupil) =>
  answerThere(browser, await browser.post(page, "/upstream", { connection: pupil.school.connectionId }), pupil);

/** As on the next day: the browser knows the school, the person has agreed, and there is no session. */
const signOnAnew =
  (pupil: Pupil, way: Way, query = "") =>
  async (): Promise<void> => {
    const kept = [...pupil.cookies].filter(([name]) => name === "_last_sign_in" || name === "_browser");
    pupil.cookies = new Map(kept);
    const browser = openBrowser(pupil.cookies);
    const { address, verifier } = authorizationUrl({ url: service.url, app });
    await finish(browser, await way(browser, await browser.open(address + query), pupil), verifier);
  };

async function makePupils(school: School, count: number, way: Way): Promise<Pupil[]> {
  const pupils = await Promise.all(Array.from({ length: count }, () => makePupil(school)));
  for (const pupil of pupils) {
    await openBrowser(pupil.cookies).open(`/s/${school.linkName}`);
    await signOnAnew(pupil, way)();
  }
  return pupils;
}

const cookiesOf = ({ cookies }: Pupil): string => [...cookies].map((pair) => pair.join("=")).join("; ");
const measure = (flows: (() => Promise<void>)[]) => () =>
  measureFlow((index) => flows[index % flows.length]!(), { connections, seconds });

try {
  const school = await makeSchool(provider.url);
  const byPassword = await makePupils(school, connections, withPassword);
  const sessionOfUs = byPassword.map((pupil) => signOn({ url: service.url, app, cookies: cookiesOf(pupil) }));
  const byUpstream = await makePupils(school, connections, throughUpstream);
  const sessionOfIt = byUpstream.map((pupil) => signOn({ url: service.url, app, cookies: cookiesOf(pupil) }));
  // Other people: a sign-on anew ends the session that the browser had.
  const anew = (await makePupils(school, connections, throughUpstream)).map((one) => signOnAnew(one, throughUpstream));
  const anewHere = (await makePupils(school, connections, withPassword)).map((one) => signOnAnew(one, withPassword));
  await db.pool.query("VACUUM ANALYZE");

  console.log(costHead);
  const subjects = { ours: service, base: service };
  const row = async (title: string, target: number, ours: (() => Promise<void>)[], base: (() => Promise<void>)[]) =>
    console.log(
      reportCost(await compare(title, target, { ours: measure(ours), base: measure(base), rounds, subjects, db })),
    );
  await row(
    "a sign-on with a session through upstream, against one with a session of ours",
    1.5,
    sessionOfIt,
    sessionOfUs,
  );
  await row("a sign-on through upstream, against one with a password, its hash left out", 1.5, anew, anewHere);
  const silently = await makePupils(school, connections, throughUpstream);
  const silent = silently.map((pupil) => signOnAnew(pupil, answerThere, "&prompt=none"));
  await row("a silent sign-on through upstream, against one with a session of ours", 1.5, silent, sessionOfUs);
  await row("a sign-on through upstream, against one with a session of ours", 1.5, anew, sessionOfUs);

  const counts = { arrived: 0, refused: 0 };
  const beside = async (neighbours: School) => {
    const pupils = await Promise.all(Array.from({ length: 64 }, () => makePupil(neighbours)));
    for (const { cookies } of pupils) await openBrowser(cookies).open(`/s/${neighbours.linkName}`);
    const flows = pupils.map((pupil) => signOnAnew(pupil, throughUpstream));
    return async () => {
      const arrive = () => flows[(counts.arrived += 1) % flows.length]!().catch(() => (counts.refused += 1));
      const timer = setInterval(() => void arrive(), 1000 / arrivalsPerSecond);
      const rate = await measureFlow((index) => anew[index]!(), { connections: others, seconds });
      clearInterval(timer);
      return rate;
    };
  };
  const [hanging, healthy] = [await makeSchool(`${provider.url}/hangs`), await makeSchool(provider.url)];
  const sides = { ours: await beside(hanging), base: await beside(healthy), rounds, subjects, db };
  const { ours, base } = await compare("", 1.2, sides);
  const ratios = ours.map(({ p99Ms }, round) => p99Ms / base[round]!.p99Ms).toSorted((a, b) => a - b);
  const p99 = (rates: typeof ours) => rates.map(({ p99Ms }) => p99Ms.toFixed(0)).join(", ");
  const failed = [...ours, ...base].reduce((sum, one) => sum + one.failed, 0);
  console.log(
    `\np99 of sign-ons beside ${arrivalsPerSecond} pupils a second of a school whose login hangs: ${p99(ours)} ms; ` +
      `of one whose login works: ${p99(base)} ms; ratio ${ratios.map((one) => one.toFixed(2)).join(", ")}, at most 1.2; ` +
      `failed: ${failed}; of ${counts.arrived} arrivals ${counts.refused} were not signed in`,
  );
} finally {
  await service.stop();
  await provider.stop();
  await network.close();
  await database.close();
}
