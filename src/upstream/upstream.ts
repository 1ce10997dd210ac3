import type { PersonId, SchoolId } from "../directory/index.ts";
import type { Clock } from "../platform/clock.ts";
import type { EncryptionKeys } from "../platform/crypto/seal.ts";
import type { PrismaDb } from "../platform/database/db.ts";
import type { WorkerJob } from "../platform/jobs/worker.ts";
import type { Log } from "../platform/telemetry/log.ts";
import type { UpstreamFailure } from "./failures.ts";
import type { ConnectionId, SetUpLinkId, UpstreamSessionId } from "./ids.ts";
import type { TestedSignIn } from "./test-sign-in.ts";

export type UpstreamDeps = {
  db: PrismaDb;
  /** Of the jobs. */
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
  prompt?: "login" | "select_account" | undefined;
  maxAge?: number | undefined;
  loginHint?: string | undefined;
  uiLocales?: string | undefined;
  /** With `prompt=none`: ends with LOGIN_REQUIRED where the provider would have to ask. */
  silent?: boolean | undefined;
};

export type Begun = { redirectTo: URL } | { failure: UpstreamFailure };

export type SignedInUpstream = {
  kind: "signed_in";
  personId: PersonId;
  generation: number;
  upstreamSessionId: UpstreamSessionId;
  /** ["upstream"], with "mfa" where the connection is trusted for it and the provider says so. */
  amr: string[];
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
  finish(back: {
    connectionId: ConnectionId;
    browser: string;
    address: string;
    params: URLSearchParams;
    at: Date;
    requestId?: string | undefined;
  }): Promise<Finished>;
  /** Ends the sessions that a logout token of the provider names, and what they opened here. */
  endByLogoutToken(connectionId: ConnectionId, token: string): Promise<"ended" | "invalid">;
  /** Where the browser ends its session at the provider; null where the school does not want that, or it cannot. */
  logoutUrlOf(sessionId: UpstreamSessionId, back: { state?: string | undefined }): Promise<URL | null>;
  /** Reads the discovery document and the keys now. */
  checkConnection(connectionId: ConnectionId): Promise<CheckedConnection>;
  jobs: WorkerJob[];
  close(): Promise<void>;
};

/** What is typed at the provider. */
export type ConnectionAddresses = { redirectUri: string; backchannelLogoutUri: string; postLogoutRedirectUri: string };

export declare function makeUpstream(deps: UpstreamDeps): Upstream;
export declare function addressesOf(issuerUrl: string, connectionId: ConnectionId): ConnectionAddresses;
