import { errors, type KoaContextWithOIDC } from "oidc-provider";
import { type ClientId, scopeFromWire, scopeToWire } from "../../../access/index.ts";
import type { PersonId } from "../../../directory/index.ts";
import { refusedScopes } from "../staff-scopes.ts";
import { findPastDecisions, findRight } from "./account.ts";
import type { ProviderDeps } from "./deps.ts";
import { readHints } from "./hints.ts";
import { requestTokenClaims, setParameters } from "./library.ts";
import { hasSecondFactor } from "../../../accounts/index.ts";
import { checkMaxAgeSpelling, checkParameters } from "./parameters.ts";

/** Gives every authorization its own grant, so that revoking one sign-on leaves others alone. */
export function makeLoadGrant(deps: ProviderDeps) {
  return async (ctx: KoaContextWithOIDC) => {
    const { provider, client, session, params } = ctx.oidc;
    const clientId = client?.clientId as ClientId;
    const personId = session?.accountId as PersonId;
    const decisions = await findPastDecisions(deps, { clientId, personId });
    const refused = refusedScopes(await findRight(deps, { clientId, personId }));

    // The tokens keep these claims: `amr` marks those of a sign-on with a second factor.
    const amr = hasSecondFactor(session?.amr) ? { amr: null } : {};
    requestTokenClaims(ctx, { sid: null, rat: { value: Number(params?.["rat"]) }, ...amr });
    session?.sidFor(clientId, session.uid);

    const grant = new provider.Grant({ clientId, accountId: personId });
    grant.addOIDCScope(decisions.scopes.map((scope) => scopeToWire(deps.platform, scope)).join(" "));
    // The person is not asked for refused scopes, and the app gets a token without them.
    if (refused.length > 0) grant.rejectOIDCScope(refused.map((scope) => scopeToWire(deps.platform, scope)).join(" "));
    grant.addOIDCClaims(["rat", ...Object.keys(amr)]);
    await grant.save();
    return grant;
  };
}

/** Checks parameters, and sets `rat` (the time of the request) and `hinted`, which apps cannot send. */
export function makeExtraParams(deps: ProviderDeps) {
  return {
    rat(ctx: KoaContextWithOIDC) {
      setParameters(ctx, { rat: String(Math.floor(Date.now() / 1000)), hinted: undefined });
      checkMaxAgeSpelling(ctx);
      checkParameters(deps.contract.checkRequest.authorize, { ...ctx.oidc.params, rat: undefined });
      setParameters(ctx, { scope: readScope(deps, ctx) });
      return readHints(deps, ctx);
    },
    hinted: null,
  };
}

// The library drops offline_access without prompt=consent, and ignores unknown scopes.
function readScope({ platform }: ProviderDeps, ctx: KoaContextWithOIDC): string {
  const asked = ctx.query["scope"];
  const scopes = [...new Set(typeof asked === "string" ? listScopes(asked) : [])];
  if (scopes.length === 0) throw new errors.InvalidRequest("missing required parameter(s) 'scope'");
  checkScopes(platform, ctx.oidc.client?.scope, scopes);
  return scopes.join(" ");
}

export function checkScopes(platform: string, granted: string | undefined, asked: readonly string[]): void {
  const allowed = new Set(granted?.split(" "));
  const wrong = asked.find((scope) => scopeFromWire(platform, scope) === null || !allowed.has(scope));
  if (wrong !== undefined) throw new errors.InvalidScope(describeScope(platform, wrong), wrong);
}

const describeScope = (platform: string, scope: string): string =>
  scopeFromWire(platform, scope) === null ? `there is no scope ${scope}` : `the app was not granted the scope ${scope}`;

/** Many clients request these by default. */
const ignoredScopes = new Set(["email", "phone", "address"]);

export const listScopes = (asked: string): string[] =>
  asked.split(" ").filter((scope) => scope !== "" && !ignoredScopes.has(scope));
