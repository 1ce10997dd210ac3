import { hash, randomBytes } from "node:crypto";
import { bucketsOfAddress } from "../accounts/index.ts";
import { hashOf, openJson, sealJson } from "./sealed-json.ts";
import type { EncryptionKeys } from "../platform/crypto/seal.ts";
import type { PrismaDb } from "../platform/database/db.ts";
import { fields, insert, join, pick, type Queryable, sql, table } from "../platform/database/sql.ts";
import {
  type Bucket,
  giveBackSteps,
  makeFindWithBuckets,
  takeSteps,
  undoTake,
} from "../platform/database/token-bucket.ts";
import { UpstreamError } from "./failures.ts";
import type { ConnectionId } from "./ids.ts";
import { connection, connectionFields, type ConnectionRow } from "./ready-connection.ts";
import type { RoundTripDeps, Start } from "./upstream.ts";
import { addressesOf } from "./connection.ts";
import { profiles } from "./profiles.ts";
import { authorizationUrl, challengeOf, type Known } from "./provider.ts";
import { maxAgeOf, promptOf } from "./freshness.ts";

type Purpose = "SIGN_IN" | "SILENT" | "TEST";

/** What was asked for; the same again with each step of scopes. */
export type Wishes = Omit<Start, "connectionId" | "browser" | "address" | "silent">;

type Secrets = { state: string; nonce: string; verifier: string };

/** What the browser brings back is compared with. Units: seconds since 1970; absent in one of the release before. */
export type RoundTrip = Secrets & Wishes & { scopes: readonly string[]; startedAt?: number };

const roundTripSeconds = 600;

/** As for interactions of apps: 2,000 people of a school who sign in at once, and some who never finish. */
const openAtOnce = {
  address: { capacity: 3000, refillSeconds: roundTripSeconds },
  site: { capacity: 6000, refillSeconds: roundTripSeconds },
};

/** SHA-256 of a secret that has enough random bits of its own. */
export const hashSecret = (secret: string): Buffer<ArrayBuffer> => Buffer.from(hash("sha256", secret, "buffer"));
const random = (): string => randomBytes(32).toString("base64url");

const bucketsOf = (keys: EncryptionKeys, address: string): Bucket[] =>
  bucketsOfAddress(address, openAtOnce, (kind, part) => hashOf(keys, "round trips", kind, part));

type New = {
  connectionId: ConnectionId;
  stateHash: Buffer;
  browserHash: Buffer;
  purpose: Purpose;
  details: Buffer;
  now: Date;
  expiresAt: Date;
};

const trip = table("upstreamRoundTrip", "trip");

const openTrip = makeFindWithBuckets<{ taken: number; opened: boolean }, New>((params, count) => {
  const { steps, isDone, count: taken } = takeSteps(params, count);
  const { connectionId, stateHash, browserHash, purpose, details, expiresAt } = params;
  const row = {
    stateHash,
    connectionId: sql`${connectionId}::uuid`,
    browserHash,
    purpose: sql`${purpose}::upstream_purpose`,
    details,
    expiresAt,
  };
  return sql`WITH ${join(steps)}, opened AS (${insert("upstreamRoundTrip", row, sql`WHERE ${isDone}`)} RETURNING 1)
    SELECT ${taken} AS taken, EXISTS (SELECT FROM opened) AS opened`;
}, "upstream.openRoundTrip");

/** Remembers a browser that goes to the provider. Errors: TOO_MANY for the address. */
async function openRoundTrip(
  { pool }: PrismaDb,
  opened: {
    connectionId: ConnectionId;
    browser: string;
    address: string;
    purpose: Purpose;
    trip: RoundTrip;
    now: Date;
  },
  keys: EncryptionKeys,
): Promise<void> {
  const { connectionId, browser, address, purpose, trip: details, now } = opened;
  const buckets = bucketsOf(keys, address);
  const stateHash = hashSecret(details.state);
  const [row] = await openTrip(pool, buckets, {
    connectionId,
    stateHash,
    browserHash: hashSecret(browser),
    purpose,
    details: sealJson(keys, `round-trip:${stateHash.toString("hex")}`, details),
    now,
    expiresAt: new Date(now.getTime() + roundTripSeconds * 1000),
  });
  if (row!.opened) return;
  await undoTake(pool, buckets, row!.taken, now);
  throw new UpstreamError("TOO_MANY");
}

type TripRow = ConnectionRow & { browserHash: Buffer; purpose: Purpose; details: Buffer; expiresAt: Date };

// Deleted before it is checked, so that nobody can use a state twice. Expired states are not accepted.
const takeTrip = makeFindWithBuckets<TripRow, { stateHash: Buffer }>((params, count) => {
  const { steps } = giveBackSteps(params, count, sql`EXISTS (SELECT FROM trip)`);
  return sql`
    WITH trip AS (DELETE FROM ${table("upstreamRoundTrip")} WHERE state_hash = ${params.stateHash} RETURNING *),
      ${join(steps)}
    SELECT ${connectionFields}, ${fields(pick(trip, "browserHash", "purpose", "details", "expiresAt"))}
    FROM trip JOIN ${connection} ON ${connection.id} = ${trip.connectionId}`;
}, "upstream.takeRoundTrip");

/** Errors: EXPIRED for a state that is unknown, used or old; OTHER_BROWSER; INVALID_RESPONSE at another connection. */
export async function takeRoundTrip(
  db: Queryable,
  back: { connectionId: ConnectionId; browser: string; address: string; state: string; now: Date },
  keys: EncryptionKeys,
): Promise<{ connection: ConnectionRow; purpose: Purpose; trip: RoundTrip }> {
  const stateHash = hashSecret(back.state);
  const [foundTrip] = await takeTrip(db, bucketsOf(keys, back.address), { stateHash });
  if (foundTrip === undefined || foundTrip.expiresAt <= back.now) throw new UpstreamError("EXPIRED");
  const { browserHash, purpose, details, expiresAt: _expiresAt, ...row } = foundTrip;
  if (!browserHash.equals(hashSecret(back.browser))) throw new UpstreamError("OTHER_BROWSER");
  if (row.id !== back.connectionId) throw new UpstreamError("INVALID_RESPONSE", "the state is of another connection");
  const opened = openJson<RoundTrip>(keys, `round-trip:${stateHash.toString("hex")}`, details);
  if (opened === null) throw new UpstreamError("EXPIRED", "no encryption key opens the round trip");
  return { connection: row, purpose, trip: opened };
}

const purposeOf = ({ to, silent }: Pick<Start, "to" | "silent">): Purpose =>
  "test" in to ? "TEST" : silent === true ? "SILENT" : "SIGN_IN";

/** Only a set-up link may use a connection that is not on. Errors: CONNECTION_OFF. */
export async function refuseOff(
  { db, clock }: RoundTripDeps,
  { id, state }: ConnectionRow,
  { to, browser }: Pick<Start, "to" | "browser">,
  findLink: RoundTripDeps["findSetUpLink"],
): Promise<void> {
  if (!("test" in to)) {
    if (state !== "ON") throw new UpstreamError("CONNECTION_OFF");
    return;
  }
  const link = await findLink(db, { id: to.test, browser, at: clock() });
  if (link?.connectionId !== id) throw new UpstreamError("CONNECTION_OFF", "the set-up link is not open");
}

/** Remembers the browser and makes the address where it signs in. Errors: TOO_MANY. */
export async function goUpstream(
  deps: RoundTripDeps,
  { connection, start, scopes }: { connection: Known; start: Start; scopes: readonly string[] },
): Promise<URL> {
  const { connectionId, browser, address, silent, ...wishes } = start;
  const secrets: Secrets = { state: random(), nonce: random(), verifier: random() };
  const now = deps.clock();
  const trip = { ...secrets, ...wishes, scopes, startedAt: Math.floor(now.getTime() / 1000) };
  const opened = { connectionId, browser, address, purpose: purposeOf(start), trip, now };
  await openRoundTrip(deps.db, opened, deps.encryptionKeys);
  const { tenantClaim } = profiles[connection.profile];
  const prompt = silent === true ? "none" : promptOf(connection, wishes);
  const maxAge = maxAgeOf(connection, wishes);
  return authorizationUrl(connection, deps.callsTo(connection.id), {
    redirect_uri: addressesOf(deps.issuerUrl, connection.id).redirectUri,
    scope: scopes.join(" "),
    state: secrets.state,
    nonce: secrets.nonce,
    code_challenge: await challengeOf(secrets.verifier),
    ...(prompt !== undefined && { prompt }),
    ...(maxAge !== undefined && { max_age: String(maxAge) }),
    ...(wishes.loginHint !== undefined && { login_hint: wishes.loginHint }),
    ...(wishes.uiLocales !== undefined && { ui_locales: wishes.uiLocales }),
    // Only for the choice of accounts; the claim in the ID token is what counts.
    ...(tenantClaim === "hd" && connection.tenant !== null && { hd: connection.tenant }),
  });
}
