import { setImmediate } from "node:timers/promises";
import { limitClaims, readClaim, readRuleValue, readText, type Claims } from "./claims.ts";
import { refuseOff, goUpstream, takeRoundTrip, type RoundTrip } from "./round-trip.ts";
import { addressesOf } from "./connection.ts";
import { UpstreamError } from "./failures.ts";
import { findPersonOf, type Account, type AccountMatch } from "./find-link.ts";
import { letWait } from "./guest.ts";
import { noteSuccess } from "./note-outcome.ts";
import { profiles } from "./profiles.ts";
import { exchangeCode, readUserinfo, refuseOtherIssuer, refuseOtherParty, verifyToken } from "./provider.ts";
import type { Known, Tokens } from "./provider.ts";
import { readAuthTime, refuseOldSignIn } from "./freshness.ts";
import { linkByRule, newSessionId, recordSignIn } from "./record-sign-in.ts";
import { recordRefusal } from "./refusals.ts";
import { countTest, keepTestedSignIn } from "./set-up-links.ts";
import { reportTest, type Arrived } from "./test-sign-in.ts";
import { storeOf } from "../platform/database/db.ts";
import type { Back, Destination, Finished, RoundTripDeps } from "./upstream.ts";
import type { SchoolId } from "../directory/index.ts";

/** What is known of a round trip so far, for the page that explains a failure. */
export type Progress = { to: Destination | null; schoolId: SchoolId | null; isProven: boolean };

/** Takes what the browser brings back from the provider. `progress` is filled in on the way. Errors: UpstreamError. */
export async function finishRoundTrip(deps: RoundTripDeps, back: Back, progress: Progress): Promise<Finished> {
  const { connectionId, browser, address, params, at: now } = back;
  const state = params.get("state") ?? "";
  const roundTrip = await takeRoundTrip(
    deps.db.pool,
    { connectionId, browser, address, state, now },
    deps.encryptionKeys,
  );
  const { trip, connection: row } = roundTrip;
  Object.assign(progress, { to: trip.to, schoolId: row.schoolId });
  await refuseOff(deps, row, { to: trip.to, browser }, deps.findSetUpLink);
  const connection = await deps.contact.know(row);
  refuseOtherIssuer(connection, params);
  const fewer = findFewerScopes(connection, { trip, params });
  if (fewer !== null) {
    const { state: _state, nonce: _nonce, verifier: _verifier, scopes: _scopes, startedAt: _at, ...wishes } = trip;
    const start = { ...wishes, connectionId, browser, address, silent: roundTrip.purpose === "SILENT" };
    return { kind: "again", redirectTo: await goUpstream(deps, { connection, start, scopes: fewer }) };
  }
  // Without a code there is only what the browser says.
  progress.isProven = params.has("code");
  const tokens = await readTokens(deps, { connection, trip, params, now });
  const { claims, more } = await readClaims(deps, connection, { tokens, isTest: roundTrip.purpose === "TEST" });
  checkTenant(connection, tokens.idClaims);
  const subject = readText(claims, connection.subjectClaim);
  const arrived = { issuer: connection.issuer, subject, claims, moreClaims: more, scopes: trip.scopes };
  return "test" in trip.to
    ? finishTest(deps, { connection, arrived, setUpLinkId: trip.to.test, now })
    : signIn(deps, { connection, arrived, tokens, back, to: trip.to });
}

/** The next step of scopes, where the provider refused one of those before. */
function findFewerScopes(
  { profile }: Known,
  { trip, params }: { trip: RoundTrip; params: URLSearchParams },
): readonly string[] | null {
  if (params.get("error") !== "invalid_scope") return null;
  const { scopeSteps } = profiles[profile];
  const nth = scopeSteps.findIndex((step) => step.join(" ") === trip.scopes.join(" "));
  // Scopes that were typed by hand are given up for the first step that asks for fewer.
  return scopeSteps.find((step, index) => (nth === -1 ? step.length < trip.scopes.length : index > nth)) ?? null;
}

async function readTokens(
  { issuerUrl, callsTo, contact }: RoundTripDeps,
  { connection, trip, params, now }: { connection: Known; trip: RoundTrip; params: URLSearchParams; now: Date },
): Promise<Tokens> {
  const { redirectUri } = addressesOf(issuerUrl, connection.id);
  const { state, nonce, verifier } = trip;
  const expected = { params, redirectUri, state, nonce, verifier };
  const tokens = await exchangeCode(connection, callsTo(connection.id), expected);
  const findKeys = contact.keysOf(connection, null);
  await verifyToken(connection, { token: tokens.idToken, findKeys, now, requiredClaims: ["exp", "iat", "sub"] });
  refuseOtherParty(connection, tokens.idClaims);
  refuseOldSignIn(connection, tokens.idClaims, trip, now);
  return tokens;
}

/** The claims of the ID token; of userinfo too where a claim that is needed is missing, or somebody looks at them. */
async function readClaims(
  { callsTo }: RoundTripDeps,
  connection: Known,
  { tokens, isTest }: { tokens: Tokens; isTest: boolean },
): Promise<{ claims: Claims; more: number }> {
  const { metadata, subjectClaim, schoolClaim, ruleClaim, createsGuests } = connection;
  const { idClaims } = tokens;
  const named = [schoolClaim, ruleClaim].filter((name) => name !== null);
  const needed = [subjectClaim, ...named, ...(createsGuests ? ["family_name"] : [])];
  const isEnough = needed.every((name) => readClaim(idClaims, name) !== undefined);
  const read = [...needed, ...alwaysRead];
  const signed = limitClaims(idClaims, read);
  if (metadata.userinfo_endpoint === undefined || (isEnough && !isTest)) return signed;
  const userinfo = await readUserinfo(connection, callsTo(connection.id), tokens);
  // Parsing a mebibyte of claims and going through them are two turns of the event loop.
  await setImmediate();
  const unsigned = limitClaims(userinfo, read);
  // What is signed counts more.
  return { claims: { ...unsigned.claims, ...signed.claims }, more: unsigned.more + signed.more };
}

const alwaysRead = ["sub", "idp", "name", "given_name", "family_name"];

/** Reads the tenant from the ID token only, because the request and userinfo are not signed. */
function checkTenant({ profile, tenant }: Known, idClaims: Claims): void {
  const { tenantClaim } = profiles[profile];
  if (tenantClaim === null) return;
  if (tenant === null || !Object.hasOwn(idClaims, tenantClaim) || idClaims[tenantClaim] !== tenant)
    throw new UpstreamError("TENANT", `${tenantClaim} is not the tenant of the school`);
}

type Arriving = { connection: Known; arrived: Arrived };

async function finishTest(
  { db, encryptionKeys }: RoundTripDeps,
  {
    connection,
    arrived,
    setUpLinkId,
    now,
  }: Arriving & { setUpLinkId: Extract<Destination, { test: unknown }>["test"]; now: Date },
): Promise<Finished> {
  await countTest(db.pool, setUpLinkId);
  const tested = await reportTest(storeOf(db), connection, { ...arrived, now });
  await keepTestedSignIn(db, { id: setUpLinkId, connection, tested, claims: arrived.claims }, encryptionKeys);
  return { kind: "tested", setUpLinkId, tested };
}

async function signIn(
  deps: RoundTripDeps,
  arriving: Arriving & { tokens: Tokens; back: Back; to: Destination },
): Promise<Finished> {
  const { db, encryptionKeys } = deps;
  const { connection, arrived, tokens, back, to } = arriving;
  const { at: now, requestId } = back;
  // The account was proven, so the connection works even if the account is refused.
  await noteSuccess(db.pool, connection, now);
  const { issuer, subject, claims } = arrived;
  const [sub, sid] = [readText(tokens.idClaims, "sub"), readText(tokens.idClaims, "sid")];
  if (sub === null) throw new UpstreamError("INVALID_RESPONSE", "the sub of the ID token is unusable");
  const account: Account = { issuer, subject: subject ?? sub, claims };
  const person: AccountMatch =
    subject === null
      ? { kind: "refused", code: "CLAIM_MISSING", matches: 0, value: null }
      : refuseUnconfirmed(connection, await findPersonOf(db.pool, { connection, account, now }), claims);
  if (person.kind === "refused") return refuse(deps, { connection, account, match: person, back });
  let { facts } = person;
  if (person.kind === "new") await linkByRule(db, { connection, account, facts, now, requestId });
  if (facts.generation === null) {
    const again = await findPersonOf(db.pool, { connection, account, now });
    if (again.kind !== "linked" || again.facts.generation === null) throw new UpstreamError("EXPIRED", "no user name");
    facts = again.facts;
  }
  const { personId, generation } = facts;
  const idToken = connection.endsUpstreamSession ? tokens.idToken : null;
  const session = { id: newSessionId(now), sub, sid, idToken };
  await recordSignIn(db.pool, { connection, account, personId, session, now }, encryptionKeys);
  const amr =
    connection.trustedForSecondFactor && saysSecondFactor(tokens.idClaims) ? ["upstream", "mfa"] : ["upstream"];
  return {
    kind: "signed_in",
    personId,
    generation: generation!,
    upstreamSessionId: session.id,
    amr,
    authTime: readAuthTime(tokens.idClaims),
    homeSchoolId: connection.schoolId,
    to,
  };
}

/** The holder of a set-up link may have entered a provider of their own, where they can sign in as anybody. */
const refuseUnconfirmed = (connection: Known, person: AccountMatch, claims: Claims): AccountMatch =>
  person.kind === "refused" || connection.confirmedForStaff || !person.facts.isStaff
    ? person
    : { kind: "refused", code: "NOT_CONFIRMED", matches: 1, value: readRuleValue(claims, connection) };

/** Values of `acr` that mean several factors; `amr` says it with "mfa" (RFC 8176). */
const severalFactors = new Set([
  "mfa",
  "https://refeds.org/profile/mfa",
  "http://schemas.openid.net/pape/policies/2007/06/multi-factor",
  "phr",
  "phrh",
]);

const saysSecondFactor = ({ amr, acr }: Claims): boolean =>
  (Array.isArray(amr) && amr.includes("mfa")) || (typeof acr === "string" && severalFactors.has(acr));

type Refusing = { connection: Known; account: Account; match: Extract<AccountMatch, { kind: "refused" }>; back: Back };

async function refuse(
  { db, encryptionKeys }: RoundTripDeps,
  { connection, account, match: person, back: { at: now } }: Refusing,
): Promise<never> {
  const { code, matches, value } = person;
  const refused = { connection, account, matches, value, now };
  const isUnknown = code === "NOBODY_MATCHES" && matches === 0;
  const makesGuests = connection.createsGuests && connection.confirmedForStaff;
  if (isUnknown && makesGuests && (await letWait(db, refused, encryptionKeys)))
    throw new UpstreamError("WAITS_FOR_STAFF");
  // The list of refusals is for staff of this school, who must not read about people of another one.
  if (code !== "OTHER_SCHOOL") await recordRefusal(db.pool, { ...refused, code }, encryptionKeys);
  throw new UpstreamError(code);
}
