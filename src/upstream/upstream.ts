import { countedAddress } from "../accounts/index.ts";
import type { PersonId, SchoolId } from "../directory/index.ts";
import type { Clock } from "../platform/clock.ts";
import type { EncryptionKeys } from "../platform/crypto/seal.ts";
import type { PrismaDb } from "../platform/database/db.ts";
import type { WorkerJob } from "../platform/jobs/worker.ts";
import { makeGuardedSender } from "../platform/outbound/guarded-request.ts";
import type { Log } from "../platform/telemetry/log.ts";
import { addressesOf } from "./connection.ts";
import { goUpstream, refuseOff } from "./round-trip.ts";
import { makeContact, type Contact } from "./contact.ts";
import { isConnectionFailure, UpstreamError, type UpstreamFailure } from "./failures.ts";
import { finishRoundTrip, type Progress } from "./finish.ts";
import { callTimeoutMs, makeCallGate, makeGuardedFetch } from "./guarded-fetch.ts";
import type { ConnectionId, SetUpLinkId, UpstreamSessionId } from "./ids.ts";
import { makeUpstreamJobs } from "./jobs.ts";
import { noteFailure, noteSuccess } from "./note-outcome.ts";
import { endSessionUrl, verifyToken } from "./provider.ts";
import { readyOf } from "./ready-connection.ts";
import { endByToken, findIdToken, readLogoutToken } from "./sessions.ts";
import { findSetUpLink } from "./set-up-links.ts";
import type { TestedSignIn } from "./test-sign-in.ts";
import type { CustomFetch } from "openid-client";

export type UpstreamDeps = {
  db: PrismaDb;
  /** The database share of the jobs. */
  jobsDb: PrismaDb;
  clock: Clock;
  log: Log;
  encryptionKeys: EncryptionKeys;
  issuerUrl: string;
  /** Development: providers on this machine, and http. */
  allowPrivateAddresses: boolean;
};

/** Where the browser goes on after the round trip. */
export type Destination = { interaction: string } | { path: string } | { test: SetUpLinkId };

export type Start = {
  connectionId: ConnectionId;
  /** The secret in the cookie of this browser, 128 bits or more. */
  browser: string;
  /** Whose round trips are counted. */
  address: string;
  to: Destination;
  /** `login`: the person has to sign in there again, which is checked; `choose`: another person may be signed in. */
  prompt?: "login" | "choose" | undefined;
  /** In seconds, checked too. */
  maxAge?: number | undefined;
  loginHint?: string | undefined;
  uiLocales?: string | undefined;
  /** With `prompt=none`: ends with LOGIN_REQUIRED where the provider would have to ask. */
  silent?: boolean | undefined;
};

export type Begun = { redirectTo: URL } | { failure: UpstreamFailure };

export type Back = {
  connectionId: ConnectionId;
  browser: string;
  address: string;
  params: URLSearchParams;
  at: Date;
  requestId?: string | undefined;
};

export type SignedInUpstream = {
  kind: "signed_in";
  personId: PersonId;
  generation: number;
  upstreamSessionId: UpstreamSessionId;
  /** ["upstream"], with "mfa" where the connection is trusted for it and the provider says so. */
  amr: string[];
  /** When the person signed in at the provider, in seconds since 1970; null if it does not say. */
  authTime: number | null;
  homeSchoolId: SchoolId;
  to: Destination;
};

export type Finished =
  | SignedInUpstream
  | { kind: "tested"; setUpLinkId: SetUpLinkId; tested: TestedSignIn }
  /** The provider refused a scope: on with fewer. */
  | { kind: "again"; redirectTo: URL }
  | { kind: "failed"; failure: UpstreamFailure; to: Destination | null };

export type CheckedConnection =
  | { kind: "reached"; endpoints: { authorization: string; token: string; userinfo: string | null; jwks: string } }
  | { kind: "failed"; failure: UpstreamFailure; detail: string };

export type Upstream = {
  begin(start: Start): Promise<Begun>;
  finish(back: Back): Promise<Finished>;
  /** Ends the sessions that a logout token of the provider names, and what they opened here. */
  endByLogoutToken(connectionId: ConnectionId, token: string, address?: string): Promise<"ended" | "invalid">;
  /** Where the browser ends its session at the provider; null where the school does not want that, or it cannot. */
  logoutUrlOf(sessionId: UpstreamSessionId, back: { state?: string | undefined }): Promise<URL | null>;
  /** Reads the discovery document and the keys now. Null for a connection that does not exist. */
  checkConnection(connectionId: ConnectionId): Promise<CheckedConnection | null>;
  jobs: WorkerJob[];
  close(): Promise<void>;
};

export type RoundTripDeps = Pick<UpstreamDeps, "db" | "clock" | "encryptionKeys" | "issuerUrl"> & {
  contact: Contact;
  callsTo(connectionId: ConnectionId): { fetch: CustomFetch; clock: Clock; allowHttp: boolean };
  findSetUpLink: typeof findSetUpLink;
};

export function makeUpstream(given: UpstreamDeps): Upstream {
  const { db, clock, log, encryptionKeys, issuerUrl, allowPrivateAddresses } = given;
  const allowHttp = allowPrivateAddresses;
  const sender = makeGuardedSender({ allowPrivateAddresses, timeoutMs: callTimeoutMs });
  const gate = makeCallGate();
  const fetchFor = (connectionId: ConnectionId) => makeGuardedFetch({ sender, gate }, connectionId);
  const contact = makeContact({ db, clock, encryptionKeys, allowHttp, fetchFor });
  const callsTo = (connectionId: ConnectionId) => ({ fetch: fetchFor(connectionId), clock, allowHttp });
  const deps: RoundTripDeps = { db, clock, encryptionKeys, issuerUrl, contact, callsTo, findSetUpLink };

  /** Records a failure for the school's IT. Rethrows errors that neither the provider nor the person caused. */
  const note = async (error: unknown, connectionId: ConnectionId, progress: Omit<Progress, "to">) => {
    if (!(error instanceof UpstreamError)) throw error;
    const { code, detail } = error;
    const { schoolId, isProven } = progress;
    if (schoolId !== null && isConnectionFailure(code)) {
      // Not the error: what caused it may hold what the provider sent.
      log.info({ connectionId, code, detail }, "a sign-in through a school's own login failed");
      await noteFailure(db.pool, { id: connectionId, code, isProven, now: clock() });
    } else log.debug({ connectionId, code, detail }, "a round trip ended without a sign-in");
    return { code, connectionId, schoolId };
  };

  return {
    async begin(start) {
      const { connectionId } = start;
      const progress: Omit<Progress, "to"> = { schoolId: null, isProven: true };
      try {
        const row = await contact.find(connectionId);
        if (row === null) throw new UpstreamError("CONNECTION_OFF");
        progress.schoolId = row.schoolId;
        await refuseOff(deps, row, start, findSetUpLink);
        const connection = await contact.know(row);
        return { redirectTo: await goUpstream(deps, { connection, start, scopes: connection.scopes }) };
      } catch (error) {
        return { failure: await note(error, connectionId, progress) };
      }
    },
    async finish(back) {
      const progress: Progress = { to: null, schoolId: null, isProven: false };
      try {
        return await finishRoundTrip(deps, back, progress);
      } catch (error) {
        return { kind: "failed", failure: await note(error, back.connectionId, progress), to: progress.to };
      }
    },
    async endByLogoutToken(connectionId, token, address = "") {
      try {
        const row = await contact.find(connectionId);
        if (row === null || row.state === "DRAFT") return "invalid";
        const known = await contact.know(row);
        const now = clock();
        const findKeys = contact.keysOf(known, countedAddress(address));
        const requiredClaims = ["iat", "exp", "jti", "events"];
        const claims = await verifyToken(known, { token, findKeys, now, requiredClaims });
        const named = { connectionId, ...readLogoutToken(claims) };
        return (await endByToken(db, named, { keys: encryptionKeys, now })) ? "ended" : "invalid";
      } catch (error) {
        if (!(error instanceof UpstreamError)) throw error;
        log.info({ connectionId, detail: error.detail }, "a logout token was refused");
        return "invalid";
      }
    },
    async logoutUrlOf(sessionId, { state }) {
      const signIn = await findIdToken(db, sessionId, encryptionKeys);
      const row = signIn && (await contact.find(signIn.connectionId));
      if (
        signIn === null ||
        row === null ||
        !row.endsUpstreamSession ||
        row.metadata?.end_session_endpoint === undefined
      )
        return null;
      // A provider that cannot be asked keeps nobody signed in here.
      const connection = await contact.know(row).catch((error: unknown) => {
        if (error instanceof UpstreamError) return null;
        throw error;
      });
      if (connection === null) return null;
      return endSessionUrl(connection, callsTo(connection.id), {
        id_token_hint: signIn.idToken,
        post_logout_redirect_uri: addressesOf(issuerUrl, connection.id).postLogoutRedirectUri,
        ...(state !== undefined && { state }),
      });
    },
    async checkConnection(connectionId) {
      const row = await contact.find(connectionId);
      if (row === null) return null;
      try {
        const connection = await contact.refresh(readyOf(row, encryptionKeys));
        const { metadata } = connection;
        if (row.failingSince !== null) await noteSuccess(db.pool, row, clock());
        return {
          kind: "reached",
          endpoints: {
            authorization: metadata.authorization_endpoint,
            token: metadata.token_endpoint,
            userinfo: metadata.userinfo_endpoint ?? null,
            jwks: metadata.jwks_uri,
          },
        };
      } catch (error) {
        const failure = await note(error, connectionId, { schoolId: row.schoolId, isProven: true });
        return { kind: "failed", failure, detail: (error as UpstreamError).detail };
      }
    },
    jobs: makeUpstreamJobs({ db: given.jobsDb, clock, contact, encryptionKeys }),
    close: () => sender.close(),
  };
}
