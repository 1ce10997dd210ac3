import type { Account, AccountClaims, KoaContextWithOIDC } from "oidc-provider";
import { claimsAt, findAppPersonId, findSubject, recordFirstSignIn } from "../../../access/index.ts";
import type { ClientId, SignOnRight, Subject, SubjectClaims } from "../../../access/index.ts";
import type { PersonId, SchoolId } from "../../../directory/index.ts";
import type { Every } from "../../../platform/contract-types.ts";
import { makeUuid } from "../../../platform/crypto/ids.ts";
import type { Decisions, Pair } from "../consent.ts";
import type { TokenClaims, PersonClaims } from "../contract.ts";
import { makePseudonym } from "../../../accounts/index.ts";
import { lacksSecondFactor, lacksStaffFactor } from "../scopes.ts";
import { readOnce, questions, getRequest, recordSignIn } from "../storage/request.ts";
import type { ProviderDeps } from "../deps.ts";

export function findRight(deps: ProviderDeps, pair: Pair): Promise<SignOnRight> {
  return readOnce(getRequest().memory, questions.right(pair), () => deps.store.findRight(pair));
}

export function findPastDecisions(deps: ProviderDeps, pair: Pair): Promise<Decisions> {
  return readOnce(getRequest().memory, questions.decisions(pair), () => deps.store.findDecisions(pair));
}

/** The only school, or the remembered choice while it is valid; null asks for a choice. */
export async function findSchool(deps: ProviderDeps, pair: Pair): Promise<SchoolId | null> {
  const right = await findRight(deps, pair);
  if (right.kind === "refused") return null;
  const [only, another] = right.schools;
  if (only && !another) return only.id;
  const { schoolId } = await findPastDecisions(deps, pair);
  return right.schools.find(({ id }) => id === schoolId)?.id ?? null;
}

const readSubject = ({ db }: ProviderDeps, pair: Pair) =>
  readOnce(getRequest().memory, questions.subject(pair), () => findSubject(db.pool, pair));

/** The id that the app has in place of the service's; null if the person was deleted during the request. */
export const findOwnId = (deps: ProviderDeps, pair: Pair): Promise<string | null> =>
  readOnce(getRequest().memory, questions.ownId(pair), async () => {
    const subject = await readSubject(deps, pair);
    return subject && (subject.id ?? (await findAppPersonId(deps.db.pool, pair)));
  });

type Token = { kind?: string; scopes?: Set<string>; amr?: string[] | undefined };

/** With a session the person is always found, for the page that says why; with a token if they may sign in. */
export function makeFindAccount(deps: ProviderDeps) {
  return async (ctx: KoaContextWithOIDC, sub: string, token?: Token): Promise<Account | undefined> => {
    const pair = { clientId: ctx.oidc.client?.clientId as ClientId, personId: sub as PersonId };
    const right = await findRight(deps, pair);
    if (token && right.kind === "refused") return undefined;
    if (await isTooWeak(deps, pair.personId, token)) return undefined;
    const signIn = { ...pair, at: deps.clock() };
    const isSignIn = token?.kind === "AuthorizationCode";
    // The first sign-in also creates the app's own id of the person.
    if (isSignIn && right.kind === "allowed" && !right.isUser) await recordFirstSignIn(deps.firstSignIns, signIn);
    if (token && (await findOwnId(deps, pair)) === null) return undefined;
    if (isSignIn) recordSignIn(getRequest(), { ...signIn, requestId: requestIdOf(ctx) });
    return {
      accountId: sub,
      async claims(use, scope, requested) {
        const schoolId = await findSchool(deps, pair);
        noteSchool(ctx, schoolId);
        noteReadPerson(ctx, pair.personId);
        // Claims are for tokens, whose person was found above.
        const subject = (await readSubject(deps, pair))!;
        const { scopes: allowed } = await findPastDecisions(deps, pair);
        const pseudonym = makePseudonym(deps.secrets.pseudonyms, pair);
        const claims = presentClaims({ ...claimsAt(subject, schoolId), pseudonym });
        return {
          sub,
          ...withoutWithheld(claims, { scopes: scope.split(" "), allowed, ...subject, ...deps.contract }),
          ...(use === "id_token" ? makeTokenClaims(deps, ctx, requested) : {}),
        } as AccountClaims;
      },
    };
  };
}

// For the admin API, refuses what was issued before the person had or needed a second factor, or in a session that
// does not open it.
async function isTooWeak(deps: ProviderDeps, personId: PersonId, token: Token | undefined): Promise<boolean> {
  if (token?.kind !== "AuthorizationCode" && token?.kind !== "RefreshToken") return false;
  const question = { personId, scopes: token.scopes ?? [], amr: token.amr };
  return (await lacksStaffFactor(deps, question)) || lacksSecondFactor(deps, question);
}

// The library hashes the value given as at_hash; every code and refresh token brings an access token and `rat`.
function makeTokenClaims({ clock }: ProviderDeps, ctx: KoaContextWithOIDC, requested: object): Every<TokenClaims> {
  const { rat } = requested as { rat?: { value: number } };
  return { jti: makeUuid(clock()), at_hash: ctx.oidc.accessToken?.jti as string, rat: rat?.value as number };
}

function noteSchool(ctx: { res: object }, schoolId: SchoolId | null): void {
  const { locals } = ctx.res as { locals?: Record<string, unknown> };
  if (locals !== undefined) locals["schoolId"] = schoolId;
}

/** For the log of what apps read. */
function noteReadPerson(ctx: { res: object }, personId: PersonId): void {
  const { locals } = ctx.res as { locals?: Record<string, unknown> };
  if (locals !== undefined) locals["readPersonId"] = personId;
}

export function requestIdOf(ctx: { res: object }): string | undefined {
  return (ctx.res as { locals?: { requestId?: string } }).locals?.requestId;
}

export type ClaimsForApp = SubjectClaims & { pseudonym: string };

/** Missing values are null, so that an app can tell them from what it did not request. */
function presentClaims({ name, role, schulconnexRole, school, groups, pseudonym }: ClaimsForApp): Every<PersonClaims> {
  return {
    name: name && `${name.firstCall} ${name.last}`,
    given_name: name?.firstFull ?? null,
    call_name: name?.firstCall ?? null,
    family_name: name?.last ?? null,
    role,
    school: school?.id ?? null,
    school_name: school?.name ?? null,
    school_official_id: school?.officialId ?? null,
    school_location: school?.location ?? null,
    school_address: school?.address ?? null,
    schooling_level: school?.schoolingLevel ?? null,
    "urn:schulconnex:de:person:name:rufname": name?.firstCall ?? null,
    "urn:schulconnex:de:personenkontext:rolle": school && schulconnexRole,
    "urn:schulconnex:de:personenkontext:organisation:kennung": school?.officialId ?? null,
    groups,
    pseudonym,
  };
}

type Scopes = Pick<Subject, "withheld"> & {
  scopes: readonly string[];
  allowed: readonly string[];
  claimsByScope: Record<string, string[]>;
};

/** Claims that no scope gives but withheld ones, or ones that the person has not allowed, are null. */
function withoutWithheld(claims: Every<PersonClaims>, { scopes, allowed, withheld, claimsByScope }: Scopes) {
  const isWithheld = (scope: string) =>
    (withheld as readonly string[] | null)?.includes(scope) === true || !allowed.includes(scope);
  const claimNames = new Set(
    scopes.filter((scope) => !isWithheld(scope)).flatMap((scope) => claimsByScope[scope] ?? []),
  );
  const lost = scopes.filter(isWithheld).flatMap((scope) => claimsByScope[scope] ?? []);
  return { ...claims, ...Object.fromEntries(lost.filter((name) => !claimNames.has(name)).map((name) => [name, null])) };
}
