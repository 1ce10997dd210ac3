import { type Client, errors, type KoaContextWithOIDC } from "oidc-provider";
import { type ClientId, scopeFromWire, type ScopeName } from "../../../access/index.ts";
import type { PersonId } from "../../../directory/index.ts";
import { isWithoutEffect, explainScope, listScopes, refusedScopes } from "../scopes.ts";
import { attributesOf, scopePlatformsOf } from "./client.ts";
import { findPastDecisions, findRight } from "./account.ts";
import type { ProviderDeps } from "../deps.ts";
import { readHints } from "./policy.ts";
import { makeOwnSid } from "../session.ts";
import { hasOwnSids, requestTokenClaims, setParameters } from "./library.ts";
import { hasSecondFactor } from "../../../accounts/index.ts";
import { checkMaxAgeSpelling, checkParameters } from "../mount.ts";

/** Gives every authorization its own grant, so that revoking one sign-on leaves others alone. */
export function makeLoadGrant(deps: ProviderDeps) {
  return async (ctx: KoaContextWithOIDC) => {
    const { provider, client, session, params } = ctx.oidc;
    const clientId = client?.clientId as ClientId;
    const personId = session?.accountId as PersonId;
    const decisions = await findPastDecisions(deps, { clientId, personId });
    const refused = refusedScopes(await findRight(deps, { clientId, personId }));
    const settings = { attributes: attributesOf(client), withheld: decisions.withheld };
    const unasked = [...ctx.oidc.requestParamScopes]
      .map((scope) => scopeFromWire(scope)!)
      .filter((scope) => !decisions.scopes.includes(scope) && isWithoutEffect(scope, settings));
    // The claims of these are null until the person was asked. Others would take effect while a token lasts.
    const hasClaims = (scope: ScopeName) => scope === "openid" || Object.hasOwn(deps.contract.claimsByScope, scope);
    const rejected = [...refused, ...unasked.filter((scope) => !hasClaims(scope))];

    // The tokens keep these claims: `amr` marks those of a sign-on with a second factor.
    const amr = hasSecondFactor(session?.amr) ? { amr: null } : {};
    requestTokenClaims(ctx, {
      sid: null,
      rat: { value: Number(params?.["rat"]) },
      ...amr,
      ...(hasOwnSids(client) && roundAuthTime(session?.authTime(), params ?? {})),
    });
    session?.sidFor(
      clientId,
      hasOwnSids(client) ? makeOwnSid(deps.secrets.sessionIds, session.uid, clientId) : session.uid,
    );

    // In the spelling of the request, which the tokens keep.
    const spell = (scopes: readonly ScopeName[]): string =>
      [...ctx.oidc.requestParamScopes].filter((scope) => scopes.includes(scopeFromWire(scope)!)).join(" ");
    const grant = new provider.Grant({ clientId, accountId: personId });
    grant.addOIDCScope(spell([...decisions.scopes, ...unasked.filter(hasClaims)]));
    // The person is not asked for these, and the app gets a token without them.
    if (rejected.length > 0) grant.rejectOIDCScope(spell(rejected));
    grant.addOIDCClaims(["rat", ...Object.keys(amr)]);
    await grant.save();
    return grant;
  };
}

/**
 * The claim `auth_time` as it is asked for with `max_age`. Its second would tell several apps that it is the same
 * person; the start of its minute does not, unless that is longer ago than the app allows.
 */
function roundAuthTime(at: number | undefined, { max_age: maxAge, rat }: Record<string, unknown>): Claims {
  if (at === undefined || maxAge === undefined) return {};
  return { auth_time: { value: Math.max(at - (at % 60), Math.min(at, Number(rat) - Number(maxAge))) } };
}

type Claims = Parameters<typeof requestTokenClaims>[1];

/** Checks parameters, and sets `rat` (the time of the request) and `hinted`, which apps cannot send. */
export function makeExtraParams(deps: ProviderDeps) {
  return {
    rat(ctx: KoaContextWithOIDC) {
      setParameters(ctx, { rat: String(Math.floor(Date.now() / 1000)), hinted: undefined });
      checkMaxAgeSpelling(ctx);
      checkParameters(deps.contract.checkRequest.authorize, { ...ctx.oidc.params, rat: undefined });
      setParameters(ctx, { scope: readScope(ctx) });
      return readHints(deps, ctx);
    },
    hinted: null,
  };
}

// The library drops offline_access without prompt=consent, and ignores unknown scopes.
function readScope(ctx: KoaContextWithOIDC): string {
  const requested = ctx.query["scope"];
  const scopes = [...new Set(typeof requested === "string" ? listScopes(requested) : [])];
  if (scopes.length === 0 && typeof requested === "string" && requested.trim() !== "")
    throw new errors.InvalidScope(
      `the request names no other scope than ${requested.trim()}, which does not exist here`,
      requested,
    );
  if (scopes.length === 0) throw new errors.InvalidRequest("missing required parameter(s) 'scope'");
  checkScopes(ctx.oidc.client, scopes);
  return scopes.join(" ");
}

export function checkScopes(client: Client | undefined, scopes: readonly string[]): void {
  const of = { scope: client?.scope, scopePlatforms: scopePlatformsOf(client) };
  for (const scope of scopes) {
    const description = explainScope(of, scope);
    if (description !== null) throw new errors.InvalidScope(description, scope);
  }
}
