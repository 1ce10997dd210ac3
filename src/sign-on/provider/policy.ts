import { interactionPolicy, type KoaContextWithOIDC } from "oidc-provider";
import type { ClientId } from "../../access/index.ts";
import type { PersonId } from "../../directory/index.ts";
import { recordAudit } from "../../events/index.ts";
import { findHintedPerson } from "../login-hint.ts";
import { once } from "../storage/request-work.ts";
import { findRight, findSchool, requestIdOf } from "./account.ts";
import type { ProviderDeps } from "./deps.ts";

const { Check, Prompt, base } = interactionPolicy;

/**
 * What a person is asked before an app gets its answer, in this order: who they are, whether the app is theirs to use,
 * for which school, and whether they agree.
 */
export function makePolicy(deps: ProviderDeps): interactionPolicy.DefaultPolicy {
  const policy = base();
  policy.get("login")?.checks.add(makeHintCheck(deps));
  // Phone apps with a scheme of their own agree once, like every other app.
  policy.get("consent")?.checks.remove("native_client_prompt");
  policy.add(new Prompt({ name: "refusal", requestable: false }, makeRightCheck(deps)), 1);
  policy.add(new Prompt({ name: "choose_school", requestable: false }, makeSchoolCheck(deps)), 2);
  return policy;
}

type Checked = (ctx: KoaContextWithOIDC, pair: { clientId: ClientId; personId: PersonId }) => Promise<boolean>;

function withPerson(check: Checked) {
  return async (ctx: KoaContextWithOIDC): Promise<boolean> => {
    const personId = ctx.oidc.session?.accountId as PersonId | undefined;
    return personId !== undefined && check(ctx, { personId, clientId: ctx.oidc.client?.clientId as ClientId });
  };
}

// A hint that means nobody known is settled by an explicit sign-in; one that means somebody only by that very person.
function makeHintCheck({ db, secrets, workOf }: ProviderDeps) {
  const check: Checked = async (ctx, { clientId, personId }) => {
    const hint = ctx.oidc.params?.["login_hint"];
    if (typeof hint !== "string") return false;
    const hinted = await once(workOf(ctx), "hinted", () => findHintedPerson(db.pool, secrets.loginHint, { hint, clientId }));
    return hinted === null ? ctx.oidc.result?.login === undefined : hinted !== personId;
  };
  return new Check("login_hint", "login_hint asks for another user", "login_required", withPerson(check));
}

function makeRightCheck(deps: ProviderDeps) {
  const check: Checked = async (ctx, pair) => {
    const right = await findRight(deps, ctx, pair);
    if (right.kind === "allowed") return false;
    const { clock, db } = deps;
    const audit = { ...pair, at: clock(), action: "sign_in_refused", requestId: requestIdOf(ctx), detail: { reason: right.reason } };
    await once(deps.workOf(ctx), "refusal recorded", () => recordAudit(db.pool, audit));
    return true;
  };
  const details = async (ctx: KoaContextWithOIDC) => {
    const pair = { clientId: ctx.oidc.client?.clientId as ClientId, personId: ctx.oidc.session?.accountId as PersonId };
    const right = await findRight(deps, ctx, pair);
    return right.kind === "refused" ? { reason: right.reason } : {};
  };
  return new Check("sign_on_right", "the user may not sign in to this app", "access_denied", withPerson(check), details);
}

function makeSchoolCheck(deps: ProviderDeps) {
  const check: Checked = async (ctx, pair) =>
    ctx.oidc.requestParamScopes.has("school") && (await findSchool(deps, ctx, pair)) === null;
  return new Check("school_choice", "the user has to choose a school", "interaction_required", withPerson(check));
}
