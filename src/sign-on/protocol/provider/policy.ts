import { interactionPolicy, type KoaContextWithOIDC } from "oidc-provider";
import { asksForSchool, commandLineClientId, type ClientId, findPersonByAppId } from "../../../access/index.ts";
import type { PersonId } from "../../../directory/index.ts";
import { recordAudit } from "../../../events/index.ts";
import { type Bucket, takeToken } from "../../../platform/database/token-bucket.ts";
import type { Pair } from "../consent.ts";
import { asksForAdmin, lacksSecondFactor, lacksStaffFactor } from "../scopes.ts";
import { isTooOld } from "../signed-in.ts";
import { readOnce, questions, getRequest } from "../storage/request.ts";
import { findRight, findSchool, requestIdOf } from "./account.ts";
import type { ProviderDeps } from "../deps.ts";
import { makeBasePolicy, readIdTokenHint, setParameters } from "./library.ts";
import { hmac } from "../../../platform/crypto/seal.ts";
import { findHintedPerson, hashHintedPerson, readableHint } from "../login-hint.ts";

export const secondFactorPrompt = "second_factor";

const { Check, Prompt } = interactionPolicy;

/** The prompts, in this order: login, refusal, second factor for the admin API, school, consent. */
export function makePolicy(deps: ProviderDeps): interactionPolicy.DefaultPolicy {
  const policy = makeBasePolicy();
  policy.get("login")?.checks.add(makeHintCheck(deps));
  policy.get("login")?.checks.add(makeStaffFactorCheck(deps));
  policy.add(new Prompt({ name: "refusal", requestable: false }, ...makeRightChecks(deps)), 1);
  policy.add(new Prompt({ name: secondFactorPrompt, requestable: false }, makeSecondFactorCheck(deps)), 2);
  policy.add(new Prompt({ name: "choose_school", requestable: false }, makeSchoolCheck(deps)), 3);
  policy.get("consent")?.checks.add(commandLineCheck);
  return policy;
}

/** Any program of the person's machine can ask as the command line, so that the person confirms each sign-on. */
const commandLineCheck = new Check(
  "command_line",
  "the user has to confirm the login of the command line",
  "interaction_required",
  ({ oidc }) => oidc.client?.clientId === commandLineClientId && !oidc.result?.["consent"],
);

type Checked = (ctx: KoaContextWithOIDC, pair: { clientId: ClientId; personId: PersonId }) => Promise<boolean>;

function withPerson(check: Checked) {
  return async (ctx: KoaContextWithOIDC): Promise<boolean> => {
    const personId = ctx.oidc.session?.accountId as PersonId | undefined;
    return personId !== undefined && check(ctx, { personId, clientId: ctx.oidc.client?.clientId as ClientId });
  };
}

function makeHintCheck(deps: ProviderDeps) {
  const check: Checked = async (ctx, { personId }) => asksForAnother(deps, ctx, personId);
  return new Check("login_hint", "the app asks for another user", "login_required", withPerson(check));
}

// An app can repeat a request unseen, so only the first few equal refusals are recorded.
function recordedRefusals({ secrets }: ProviderDeps, { personId, clientId }: Pair): Bucket {
  const key = hmac(secrets.signInTraces).update(`recorded refusals\0${personId}\0${clientId}`).digest();
  return { key, capacity: 10, refillSeconds: 3600 };
}

/** Describes a refusal to the app; a block has its own text, so that the app can say whom to ask. */
export const describeRefusal = (reason: unknown): string =>
  reason === "person_blocked" ? "the user's account is blocked" : "the user may not sign in to this app";

function makeRightChecks(deps: ProviderDeps): interactionPolicy.Check[] {
  const findReason = async (pair: Pair): Promise<string | null> => {
    const right = await findRight(deps, pair);
    return right.kind === "refused" ? right.reason : null;
  };
  const makeCheck = (name: string, description: string, isMeant: (reason: string) => boolean) => {
    const check: Checked = async (ctx, pair) => {
      const reason = await findReason(pair);
      if (reason === null || !isMeant(reason)) return false;
      const { clock, db } = deps;
      const audit = {
        ...pair,
        at: clock(),
        action: "sign_in_refused" as const,
        requestId: requestIdOf(ctx),
        detail: { reason },
      };
      await readOnce(getRequest().memory, questions.refusal(pair), async () => {
        if ((await takeToken(db.pool, recordedRefusals(deps, pair), clock())) === null) await recordAudit(db, audit);
      });
      return true;
    };
    const details = async (ctx: KoaContextWithOIDC) => {
      const pair = {
        clientId: ctx.oidc.client?.clientId as ClientId,
        personId: ctx.oidc.session?.accountId as PersonId,
      };
      const reason = await findReason(pair);
      return reason === null ? {} : { reason };
    };
    return new Check(name, description, "access_denied", withPerson(check), details);
  };
  return [
    makeCheck("blocked", describeRefusal("person_blocked"), (reason) => reason === "person_blocked"),
    makeCheck("sign_on_right", describeRefusal("no_grant"), (reason) => reason !== "person_blocked"),
  ];
}

function makeStaffFactorCheck(deps: ProviderDeps) {
  const { sessionSeconds } = deps.lifetimes;
  const check: Checked = async ({ oidc: { requestParamScopes: scopes, session } }, { personId }) =>
    (asksForAdmin(scopes) && isTooOld(session!, { ...deps, sessionSeconds })) ||
    (await lacksStaffFactor(deps, { personId, scopes, amr: session?.amr }));
  return new Check("password", "the user has to type their password", "login_required", withPerson(check));
}

function makeSecondFactorCheck(deps: ProviderDeps) {
  const check: Checked = (ctx, { personId }) =>
    lacksSecondFactor(deps, { personId, scopes: ctx.oidc.requestParamScopes, amr: ctx.oidc.session?.amr });
  const description = "the user has to prove a second factor";
  return new Check(secondFactorPrompt, description, "interaction_required", withPerson(check));
}

function makeSchoolCheck(deps: ProviderDeps) {
  const check: Checked = async (ctx, pair) => {
    if (!asksForSchool(ctx.oidc.requestParamScopes) || (await findSchool(deps, pair)) !== null) return false;
    const right = await findRight(deps, pair);
    // Staff without a school have no choice.
    return right.kind === "refused" || right.schools.length > 0;
  };
  return new Check("school_choice", "the user has to choose a school", "interaction_required", withPerson(check));
}

/** The hinted person as a keyed hash; `sure`: only this service can have made the hint. */
type Hinted = { sure: boolean; hash: string };

const nobody = "nobody";

/** Replaces `login_hint` and `id_token_hint` by `hinted`, which is stored and says nothing about the person. */
export async function readHints(deps: ProviderDeps, ctx: KoaContextWithOIDC): Promise<void> {
  const { login_hint: hint } = ctx.oidc.params as Record<string, string | undefined>;
  const idToken = readIdTokenHint(ctx);
  const hinted: Hinted[] = [];
  if (idToken) hinted.push(await readSubjectHint(deps, ctx, idToken.sub));
  if (hint !== undefined) hinted.push(await readLoginHint(deps, ctx, hint));
  const written = hinted.map(({ sure, hash }) => `${sure ? "sure" : "perhaps"}:${hash}`).join(" ");
  setParameters(ctx, { hinted: written || undefined, login_hint: undefined, id_token_hint: undefined });
}

async function readSubjectHint(
  { db, secrets }: ProviderDeps,
  ctx: KoaContextWithOIDC,
  sub: string | undefined,
): Promise<Hinted> {
  const clientId = ctx.oidc.client?.clientId as ClientId;
  const personId = sub === undefined ? null : await findPersonByAppId(db.pool, { clientId, id: sub });
  return { sure: true, hash: hashHintedPerson(secrets.loginHint, personId ?? nobody) };
}

async function readLoginHint({ db, secrets }: ProviderDeps, ctx: KoaContextWithOIDC, hint: string): Promise<Hinted> {
  const question = { hint, clientId: ctx.oidc.client?.clientId as ClientId };
  const { personId, sure, schoolId } = await findHintedPerson(db.pool, secrets.loginHint, question);
  if (sure) getRequest().hintedSchoolId = schoolId;
  getRequest().typedHint = readableHint(secrets.loginHint, question);
  return { sure, hash: hashHintedPerson(secrets.loginHint, personId ?? nobody) };
}

function parseHinted(params: Record<string, unknown> | undefined): Hinted[] {
  const hinted = params?.["hinted"];
  if (typeof hinted !== "string") return [];
  return hinted
    .split(" ")
    .map((entry) => ({ sure: entry.startsWith("sure:"), hash: entry.slice(entry.indexOf(":") + 1) }));
}

const isHinted = (ctx: KoaContextWithOIDC): boolean => parseHinted(ctx.oidc.params).length > 0;

/** Whether the person may continue as somebody else, because the app may have guessed the hints. */
export const mayOverrule = (params: Record<string, unknown>): boolean => parseHinted(params).every(({ sure }) => !sure);

/** Whether to ask the person to switch. Unknown hints count like other people's, so that nobody learns who exists. */
function asksForAnother({ secrets }: ProviderDeps, ctx: KoaContextWithOIDC, personId: PersonId): boolean {
  const hinted = parseHinted(ctx.oidc.params);
  if (hinted.length === 0) return false;
  const own = hashHintedPerson(secrets.loginHint, personId);
  const others = hinted.filter(({ hash }) => hash !== own);
  const { hint } = (ctx.oidc.result ?? {}) as { hint?: { answered?: boolean } };
  return others.some(({ sure }) => sure || hint?.answered !== true);
}

const silentFailures = new Set(["login_required", "consent_required", "interaction_required", "access_denied"]);

/** Whether the app may not learn why a silent request with a hint failed: who is signed in, and who exists. */
export const hidesReason = (ctx: KoaContextWithOIDC, error: string): boolean =>
  isHinted(ctx) && ctx.oidc.prompts.has("none") && silentFailures.has(error);
