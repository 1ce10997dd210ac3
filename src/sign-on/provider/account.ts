import type { Account, AccountClaims, KoaContextWithOIDC } from "oidc-provider";
import { type ClientId, findSignOnRight, findSubjectClaims, hasSignedIn, makeSignInStatement, recordFirstSignIn, type SignOnRight } from "../../access/index.ts";
import type { PersonId, SchoolId } from "../../directory/index.ts";
import { makeAuditStatement } from "../../events/index.ts";
import { makeUuid } from "../../platform/ids.ts";
import { type Decisions, findDecisions } from "../consent.ts";
import { once } from "../storage/request-work.ts";
import type { ProviderDeps } from "./deps.ts";
import { presentClaims } from "./claims.ts";

type Standing = { right: SignOnRight; decisions: Decisions };
type Pair = { clientId: ClientId; personId: PersonId };

/** Whether the person may use the app now, and what they decided about it; asked once a request. */
export function findStanding(deps: ProviderDeps, ctx: KoaContextWithOIDC, pair: Pair): Promise<Standing> {
  return once(deps.workOf(ctx), `standing ${pair.clientId} ${pair.personId}`, async () => {
    const [right, decisions] = await Promise.all([findSignOnRight(deps.db.pool, pair), findDecisions(deps.db.pool, pair)]);
    return { right, decisions };
  });
}

/** The school that a sign-on is for: the remembered choice while it still holds, else the only one; null asks for a choice. */
export function chooseSchool({ right, decisions }: Standing): SchoolId | null {
  if (right.kind === "refused") return null;
  const chosen = right.schools.find(({ id }) => id === decisions.schoolId);
  return (chosen ?? (right.schools.length === 1 ? right.schools[0] : undefined))?.id ?? null;
}

type Token = { kind?: string; scopes?: Set<string> };

/**
 * Finds the person behind a session or a token.
 *
 * Shape: with a session always somebody, so that the refusal page can tell them why; with a token nobody unless they
 *        may still use the app.
 */
export function makeFindAccount(deps: ProviderDeps) {
  return async (ctx: KoaContextWithOIDC, sub: string, token?: Token): Promise<Account | undefined> => {
    const pair = { clientId: ctx.oidc.client?.clientId as ClientId, personId: sub as PersonId };
    const standing = await findStanding(deps, ctx, pair);
    if (token && standing.right.kind === "refused") return undefined;
    if (token?.kind === "AuthorizationCode") await addSignInFacts(deps, ctx, pair);
    return {
      accountId: sub,
      async claims(use, _scope, requested) {
        const subject = await findSubjectClaims(deps.db.pool, { ...pair, schoolId: chooseSchool(standing) });
        if (!subject) throw new Error("the person vanished during the request");
        return { sub, ...presentClaims(subject), ...(use === "id_token" ? makeTokenClaims(deps, ctx, requested) : {}) } as AccountClaims;
      },
    };
  };
}

// The library hashes the value given as at_hash.
function makeTokenClaims({ clock }: ProviderDeps, ctx: KoaContextWithOIDC, requested: object): Record<string, unknown> {
  const { rat } = requested as { rat?: { value: number } };
  return { jti: makeUuid(clock()), at_hash: ctx.oidc.accessToken?.jti, rat: rat?.value };
}

async function addSignInFacts({ db, clock, workOf }: ProviderDeps, ctx: KoaContextWithOIDC, pair: Pair): Promise<void> {
  const at = clock();
  if (!(await hasSignedIn(db.pool, pair))) await recordFirstSignIn(db, { ...pair, at });
  const audit = makeAuditStatement({ ...pair, at, action: "signed_in", requestId: requestIdOf(ctx) });
  workOf(ctx).facts.push(makeSignInStatement({ ...pair, at }), audit);
}

export function requestIdOf(ctx: { res: object }): string | undefined {
  return (ctx.res as { locals?: { requestId?: string } }).locals?.requestId;
}
