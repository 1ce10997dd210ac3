import { interactionPolicy, type KoaContextWithOIDC } from "oidc-provider";
import { commandLineClientId, type ClientId } from "../../../access/index.ts";
import type { PersonId } from "../../../directory/index.ts";
import { recordAudit } from "../../../events/index.ts";
import { type Bucket, takeToken } from "../../../platform/database/token-bucket.ts";
import type { Pair } from "../consent.ts";
import { lacksSecondFactor, lacksStaffFactor } from "../scopes.ts";
import { once, questions, getRequest } from "../storage/request.ts";
import { findRight, findSchool, requestIdOf } from "./account.ts";
import type { ProviderDeps } from "../deps.ts";
import { asksForAnother } from "./hints.ts";
import { makeBasePolicy } from "./library.ts";
import { hmac } from "../../../platform/crypto/hmac.ts";

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
      await once(getRequest().memory, questions.refusal(pair), async () => {
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
  const check: Checked = (ctx, { personId }) =>
    lacksStaffFactor(deps, { personId, scopes: ctx.oidc.requestParamScopes, amr: ctx.oidc.session?.amr });
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
    if (!ctx.oidc.requestParamScopes.has("school") || (await findSchool(deps, pair)) !== null) return false;
    const right = await findRight(deps, pair);
    // Staff without a school have no choice.
    return right.kind === "refused" || right.schools.length > 0;
  };
  return new Check("school_choice", "the user has to choose a school", "interaction_required", withPerson(check));
}
