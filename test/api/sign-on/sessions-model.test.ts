// @module-tag model
import fc from "fast-check";
import { expect, test } from "vitest";
import { changeDirectory, rotateClientSecret, withdrawGrant } from "../../../src/access/index.ts";
import { blockPersonIn, setLoginIn, signOutPersonIn, unblockPersonIn } from "../../../src/accounts/index.ts";
import { isPasswordOf } from "../../../src/accounts/login/password.ts";
import type { PersonId } from "../../../src/directory/index.ts";
import { withPrismaTransaction } from "../../../src/platform/database/db.ts";
import { AppError } from "../../../src/platform/errors.ts";
import { poolsOf } from "../../../src/platform/database/shares.ts";
import { silentLog } from "../../../src/platform/telemetry/log.ts";
import { type Browser, makeBrowser } from "../../support/browser.ts";
import { makeMakers } from "../../support/make.ts";
import { anyFault, type Fault, makeFaults } from "../../support/nth-fault.ts";
import { hashQuickly } from "../../support/quick-hash.ts";
import { startService } from "../../support/service.ts";
import {
  basic,
  exchange,
  giveLogin,
  type Login,
  postToken,
  signOn,
  type SignedOn,
  type TestApp,
  type TokenBody,
} from "../../support/token.ts";
import { walkTimeoutMs, walks } from "../../support/walks.ts";

// Sessions, codes and tokens of one person at one app, whatever is done in which order, with connections that are lost
// at any statement. What was given works until its end; what has ended never works again, and nothing is given by half.

const service = await startService({ log: silentLog });
const { db, clock } = service;
const make = makeMakers(db);
const school = await make.school();
const faults = makeFaults(...Object.values(poolsOf(service.shares)), db.pool);
const [codeSeconds, tokenSeconds, sessionSeconds, refreshDays, graceSeconds] = [60, 3600, 36_000, 30, 10];
const seconds = () => clock().getTime() / 1000;

/** `isCertain`: not in the last minute, in which the use of a session need not have extended it. */
type Session = { uid: number; usedAt: number; isCertain: boolean };
/** What one authorization gave. Its access tokens end with its session, its refresh tokens do not. */
type Grant = { uid: number; hasEnded: boolean };
type Code = { grant: Grant; signedOn: SignedOn; until: number; isUsed: boolean; hasEnded: boolean };
type AccessToken = { grant: Grant; token: string; until: number; hasEnded: boolean };
type RefreshToken = { grant: Grant; token: string; until: number; replaced: { at: number; by: TokenBody } | null };

class Side {
  readonly browsers: Browser[] = [makeBrowser(service.url), makeBrowser(service.url)];
  readonly sessions: (Session | null)[] = [null, null];
  codes: Code[] = [];
  accessTokens: AccessToken[] = [];
  refreshTokens: RefreshToken[] = [];
  oldSecret: { app: TestApp; until: number } | null = null;
  isBlocked = false;
  isGranted = true;
  exchanges = 0;
  uids = 0;
  fault: Fault | null = null;
  readonly personId: PersonId;
  readonly login: Login;
  app: TestApp;

  constructor(personId: PersonId, login: Login, app: TestApp) {
    [this.personId, this.login, this.app] = [personId, login, app];
  }

  /** Does the work with the fault of this step, and once more without it if it has no answer then. */
  async attempt<Made>(work: () => Promise<Made>, isAnswer: (made: Made) => boolean = () => true) {
    const { isHit, value } = await faults.during(this.fault, work);
    this.fault = null;
    if (value !== undefined && isAnswer(value)) return { made: value, isLost: false };
    expect(isHit).toBe(true);
    return { made: await work(), isLost: true };
  }

  /** As `attempt`, of a change that is refused with this code if it counted although nobody was told. */
  attemptOnce(work: () => Promise<unknown>, code: string) {
    let tries = 0;
    return this.attempt(async () => {
      tries += 1;
      await work().catch((error: unknown) => {
        if (tries === 1 || !(error instanceof AppError) || error.code !== code) throw error;
      });
      return "done";
    });
  }

  change(work: typeof blockPersonIn) {
    return withPrismaTransaction(db, async (tx) => {
      await work(tx, this.personId, { at: clock(), actorId: "staff" });
      return "done";
    });
  }

  /** Ends all that the person has. */
  endAll(): void {
    this.sessions.fill(null);
    for (const { grant } of [...this.codes, ...this.accessTokens, ...this.refreshTokens]) grant.hasEnded = true;
  }

  endSession(at: number): void {
    const uid = this.sessions[at]?.uid;
    this.sessions[at] = null;
    for (const one of [...this.codes, ...this.accessTokens]) one.hasEnded ||= one.grant.uid === uid;
  }

  keep(grant: Grant, body: TokenBody): void {
    this.accessTokens.push({ grant, token: body.access_token, until: seconds() + tokenSeconds, hasEnded: false });
    const until = seconds() + refreshDays * 86_400;
    this.refreshTokens.push({ grant, token: body.refresh_token!, until, replaced: null });
  }
}

const isIn = async (browser: Browser) => (await browser.open("/")).html.includes("/oauth2/sessions/logout");
const refused = { status: 400, body: { error: "invalid_grant" } };
/** Every error of the token endpoint has the status 400. */
const isAnswered = ({ status, body }: { status: number; body?: unknown }) =>
  status < 500 && (body as TokenBody | null)?.error !== "server_error";
/** One of the latest. */
function pickOf<Made>(all: readonly Made[], pick: number): Made | undefined {
  const latest = all.slice(-4);
  return latest[pick % Math.max(1, latest.length)];
}

/** What a session is by now; null if it may be the one or the other. */
function isAlive(session: Session | null): boolean | null {
  if (session === null || seconds() >= session.usedAt + sessionSeconds) return false;
  return session.isCertain && seconds() < session.usedAt + sessionSeconds - 60 ? true : null;
}

async function authorize(side: Side, pick: number, params: Record<string, string>): Promise<void> {
  const at = pick % 2;
  const browser = side.browsers[at]!;
  const wishes = { browser, scopes: ["openid", "offline_access"], params } as const;
  const go = () => signOn(service, side.app, side.login, wishes);
  const isBack = ({ back }: SignedOn) => /[?&](code|error)=/.test(back.search);
  const wasAlive = isAlive(side.sessions[at]!);
  if (wasAlive === false) side.sessions[at] = null;
  const { isHit, value: signedOn } = await faults.during(side.fault, go);
  side.fault = null;
  const answer = signedOn && isBack(signedOn) ? signedOn.back.searchParams : null;
  if (answer?.has("code") === true) {
    expect(side.isBlocked || !side.isGranted).toBe(false);
    if (params["prompt"] === "none") expect(wasAlive).not.toBe(false);
    const uid = wasAlive === false ? (side.uids += 1) : (side.sessions[at]?.uid ?? (side.uids += 1));
    side.sessions[at] = { uid, usedAt: seconds(), isCertain: true };
    const grant = { uid, hasEnded: false };
    side.codes.push({ grant, signedOn: signedOn!, until: seconds() + codeSeconds, isUsed: false, hasEnded: false });
    return;
  }
  if (isHit) {
    // Whether there is a session now is seen by the browser.
    const isThere = await isIn(browser);
    if (isThere) side.sessions[at] ??= { uid: (side.uids += 1), usedAt: seconds(), isCertain: false };
    else side.sessions[at] = null;
    return;
  }
  if (params["prompt"] !== "none") expect([side.isBlocked, side.isGranted]).not.toEqual([false, true]);
  else if (!side.isBlocked && side.isGranted)
    expect([answer?.get("error"), wasAlive]).not.toEqual(["login_required", true]);
  if (!(await isIn(browser))) side.sessions[at] = null;
  else side.sessions[at] ??= { uid: (side.uids += 1), usedAt: seconds(), isCertain: false };
}

const steps: Record<string, (side: Side, pick: number) => Promise<void>> = {
  signIn: (side, pick) => authorize(side, pick, {}),
  askSilently: (side, pick) => authorize(side, pick, { prompt: "none" }),
  signInAgain: (side, pick) => authorize(side, pick, { prompt: "login" }),
  agreeAgain: (side, pick) => authorize(side, pick, { prompt: "consent" }),
  signInFresh: (side, pick) => authorize(side, pick, { max_age: "0" }),

  async exchange(side, pick) {
    const code = pickOf(side.codes, pick);
    if (code === undefined) return;
    const isGood = !code.isUsed && !code.hasEnded && !code.grant.hasEnded && seconds() < code.until;
    const { made, isLost } = await side.attempt(() => exchange(service, side.app, code.signedOn), isAnswered);
    if (isGood && side.isGranted) {
      side.exchanges += 1;
      code.isUsed = true;
      if (made.status === 200) return side.keep(code.grant, made.body);
      // The code was used before the answer was lost, and is used a second time now.
      expect(isLost).toBe(true);
    }
    expect(made).toMatchObject(refused);
    if (code.isUsed && seconds() < code.until) code.grant.hasEnded = true;
  },

  async refresh(side, pick) {
    const token = pickOf(side.refreshTokens, pick);
    if (token === undefined) return;
    const fields = { grant_type: "refresh_token", refresh_token: token.token };
    const { made } = await side.attempt(() => postToken(service, side.app, fields), isAnswered);
    const isGood = !token.grant.hasEnded && seconds() < token.until && side.isGranted;
    if (isGood && token.replaced === null) {
      expect(made.status).toBe(200);
      token.replaced = { at: seconds(), by: made.body };
      return side.keep(token.grant, made.body);
    }
    if (isGood && seconds() <= token.replaced!.at + graceSeconds) {
      const { access_token, refresh_token } = token.replaced!.by;
      return expect(made).toMatchObject({ status: 200, body: { access_token, refresh_token } });
    }
    expect(made).toMatchObject(refused);
    if (isGood) token.grant.hasEnded = true;
  },

  async revoke(side, pick) {
    const given = pick % 2 === 0 ? side.refreshTokens : side.accessTokens;
    const token = pickOf<AccessToken | RefreshToken>(given, pick >> 1);
    if (token === undefined || seconds() >= token.until) return;
    if ("replaced" in token ? token.replaced !== null : token.hasEnded) return;
    const init = { method: "POST", headers: basic(side.app), body: new URLSearchParams({ token: token.token }) };
    await side.attempt(
      () => fetch(`${service.url}/oauth2/revoke`, init),
      ({ ok }) => ok,
    );
    token.grant.hasEnded = true;
  },

  async logOut(side, pick) {
    const browser = side.browsers[pick % 2]!;
    await side.attempt(async () => {
      const page = await browser.open("/oauth2/sessions/logout");
      const isAsked = page.html.includes("/confirm");
      return isAsked ? browser.submit(page, "/confirm", { logout: "yes" }) : page;
    }, isAnswered);
    side.endSession(pick % 2);
  },

  async logOutEverywhere(side, pick) {
    const browser = side.browsers[pick % 2]!;
    if (!(await isIn(browser))) return;
    await side.attempt(async () => {
      const page = await browser.open("/account");
      return page.html.includes("/account/sign-out") ? browser.submit(page, "/account/sign-out") : page;
    }, isAnswered);
    side.endAll();
  },

  async signOutByStaff(side) {
    await side.attempt(() => side.change(signOutPersonIn));
    side.endAll();
  },

  async block(side) {
    const [work, code] = side.isBlocked ? [unblockPersonIn, "person_not_blocked"] : [blockPersonIn, "person_blocked"];
    await side.attemptOnce(() => side.change(work), code);
    side.isBlocked = !side.isBlocked;
    if (side.isBlocked) side.endAll();
  },

  async setPassword(side) {
    const password = `by staff ${side.uids}`;
    const passwordHash = await hashQuickly(password);
    const { username } = side.login;
    await side.attempt(() =>
      side.change((tx, personId, origin) => setLoginIn(tx, { personId, username, passwordHash }, origin)),
    );
    side.login.password = password;
    side.endAll();
  },

  async changeOwnPassword(side, pick) {
    const browser = side.browsers[pick % 2]!;
    if (!(await isIn(browser))) return;
    const password = `my own number ${(side.uids += 1)}`;
    const readHash = async () =>
      (await db.prisma.credential.findUniqueOrThrow({ where: { personId: side.personId } })).passwordHash!;
    const { isLost } = await side.attempt(async () => {
      if (await isPasswordOf(await readHash(), password)) return { status: 200 };
      const page = await browser.open("/sign-in/password");
      const typed = { current: side.login.password, password, repeated: password };
      return browser.submit(page, "/sign-in/password", typed);
    }, isAnswered);
    expect(await isPasswordOf(await readHash(), password)).toBe(true);
    side.login.password = password;
    side.endAll();
    // The browser begins a new session.
    side.sessions[pick % 2] = { uid: (side.uids += 1), usedAt: seconds(), isCertain: !isLost };
  },

  async withdrawGrant(side) {
    const { clientId } = side.app;
    const origin = { at: clock(), actorId: "school" };
    const withdraw = () =>
      changeDirectory(db, origin, (change) => withdrawGrant(change, { clientId, schoolId: school }));
    if (side.isGranted) await side.attemptOnce(withdraw, "grant_not_found");
    else {
      await make.grant({ app: clientId, school });
      // What waited is as good as before, or was used up in the meantime.
      [side.codes, side.accessTokens, side.refreshTokens] = [[], [], []];
    }
    side.isGranted = !side.isGranted;
  },

  async rotateSecret(side, pick) {
    const { clientId } = side.app;
    const keepOldSeconds = pick % 2 === 0 ? 0 : tokenSeconds;
    const rotate = () =>
      withPrismaTransaction(db, (tx) => rotateClientSecret(tx, { clientId, keepOldSeconds }, { at: clock() }));
    const { made, isLost } = await side.attempt(rotate);
    side.oldSecret = isLost ? null : { app: { ...side.app }, until: seconds() + keepOldSeconds };
    side.app = { ...side.app, ...made };
  },

  forward: async (_side, pick) =>
    clock.forwardSeconds([11, 5, 61, 11, 3601, 11, 36_001, 11, 61, 2_678_400][pick % 10]!),
};

async function introspect(side: Side, token: string): Promise<boolean> {
  const init = { method: "POST", headers: basic(side.app), body: new URLSearchParams({ token }) };
  const response = await fetch(`${service.url}/oauth2/introspect`, init);
  expect(response.status).toBe(200);
  return ((await response.json()) as { active: boolean }).active;
}

const counted = `SELECT
  (SELECT count(*)::int FROM audit WHERE action = 'signed_in' AND client_id = $1) AS exchanges,
  (SELECT count(*)::int FROM oidc_artifact token JOIN oidc_artifact code USING (grant_id)
   WHERE code.kind = 'AuthorizationCode' AND code.consumed_at IS NULL AND code.client_id = $1
     AND token.kind IN ('AccessToken', 'RefreshToken')) AS "tokensOfUnusedCodes",
  (SELECT count(*)::int FROM (SELECT FROM oidc_artifact
   WHERE kind = 'RefreshToken' AND client_id = $1 AND consumed_at IS NULL
   GROUP BY grant_id HAVING count(*) > 1) AS forked) AS forks`;

/** Compares all that was given with what it is worth now. */
async function check(side: Side): Promise<void> {
  const tokens = [
    ...side.accessTokens.slice(-6).map((one) => ({ ...one, is: !one.hasEnded, what: "access token" })),
    ...side.refreshTokens
      .filter(({ replaced }) => replaced === null)
      .slice(-6)
      .map((one) => ({ ...one, is: true, what: "refresh token" })),
  ];
  const expected = tokens.map(({ grant, until, is, what }) => [
    what,
    is && side.isGranted && !grant.hasEnded && seconds() < until,
  ]);
  const seen = await Promise.all(tokens.map(async ({ token, what }) => [what, await introspect(side, token)]));
  expect(seen).toEqual(expected);
  for (const [at, browser] of side.browsers.entries()) {
    const [should, is] = [isAlive(side.sessions[at]!), await isIn(browser)];
    if (should !== null) expect(["session", at, is]).toEqual(["session", at, should]);
    else if (!is) side.sessions[at] = null;
  }
  const { rows } = await db.pool.query(counted, [side.app.clientId]);
  expect(rows).toEqual([{ exchanges: side.exchanges, tokensOfUnusedCodes: 0, forks: 0 }]);
  if (side.oldSecret === null) return;
  const { status } = await postToken(service, side.oldSecret.app, { grant_type: "client_credentials" });
  expect(["old secret", status]).toEqual(["old secret", seconds() < side.oldSecret.until ? 200 : 400]);
}

class Step implements fc.AsyncCommand<object, Side> {
  readonly name: string;
  readonly pick: number;
  readonly fault: Fault | null;
  constructor(name: string, pick: number, fault: Fault | null) {
    [this.name, this.pick, this.fault] = [name, pick, fault];
  }
  check = () => true;
  async run(_model: object, side: Side): Promise<void> {
    side.fault = this.fault;
    await steps[this.name]!(side, this.pick);
    side.fault = null;
    await check(side);
  }
  toString = () => `${this.name} ${this.pick}${this.fault === null ? "" : ` ${JSON.stringify(this.fault)}`}`;
}

// Tokens are given and used much more often than all of them are ended.
const often = [
  "signIn",
  "signIn",
  "exchange",
  "exchange",
  "exchange",
  "refresh",
  "refresh",
  "refresh",
  "refresh",
  "forward",
];
const step = fc
  .tuple(fc.constantFrom(...Object.keys(steps), ...often), fc.nat(31), anyFault(4))
  .map(([name, pick, fault]) => new Step(name, pick, fault));

test(
  "what was given works until its end, and what has ended never works again",
  { timeout: walkTimeoutMs },
  async () => {
    await fc.assert(
      fc.asyncProperty(fc.commands([step], { maxCommands: 40, size: "max" }), async (commands) => {
        const personId = await make.person({ school, role: "TEACHER" });
        const app = await make.app();
        await make.grant({ app: app.clientId, school });
        const side = new Side(personId, await giveLogin(db, personId), app);
        for (const pick of [0, 1]) {
          await steps["signIn"]!(side, pick);
          await steps["exchange"]!(side, pick);
        }
        await fc.asyncModelRun(() => ({ model: {}, real: side }), commands);
      }),
      walks(4, 1),
    );
  },
);
