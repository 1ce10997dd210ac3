import type { Provider, ErrorOut, KoaContextWithOIDC } from "oidc-provider";
import type { PersonId } from "../../directory/index.ts";
import type { Clock } from "../../platform/clock.ts";
import type { PrismaDb, Db } from "../../platform/database/db.ts";
import type { EncryptionKeys } from "../../platform/crypto/seal.ts";
import type { Upstream } from "../../upstream/index.ts";
import type { SharedSecrets } from "./keys/shared-secrets.ts";
import type { makeCheckPassword } from "../../accounts/index.ts";
import type { IncomingMessage, ServerResponse } from "node:http";
import type { Log } from "../../platform/telemetry/log.ts";
import type { Pair } from "./consent.ts";
import type { SignOnContract } from "./contract.ts";
import type { ReadPublishedKeys } from "./keys/published-keys.ts";
import type { SigningKey } from "./keys/signing-keys.ts";
import type { Store } from "./storage/store.ts";
import type { FindClientKeys, WithoutPkce } from "./provider/client.ts";

/** Whether all staff need a second factor to sign in, or only those who have one. */
export type StaffSecondFactor = "required" | "offered";

export type InteractionDeps = {
  db: PrismaDb;
  clock: Clock;
  issuerUrl: string;
  secrets: SharedSecrets;
  /** The first encrypts, each can decrypt. */
  encryptionKeys: EncryptionKeys;
  sessionSeconds: number;
  staffSecondFactor: StaffSecondFactor;
  checkPassword: ReturnType<typeof makeCheckPassword>;
  upstream: Pick<Upstream, "begin" | "finish" | "endByLogoutToken" | "logoutUrlOf">;
  store: Pick<Store, "findAnswer" | "findInteraction">;
  findPersonName(personId: PersonId): Promise<string | null>;
  /** The current provider; it is replaced when signing keys change. */
  provider(): Provider;
  /** Answers a request with the current provider. */
  answer(req: IncomingMessage, res: ServerResponse): Promise<void>;
};

type Lifetimes = {
  codeSeconds: number;
  accessTokenSeconds: number;
  idTokenSeconds: number;
  refreshTokenSeconds: number;
  refreshGraceSeconds: number;
  sessionSeconds: number;
};

export type ProviderDeps = {
  db: PrismaDb;
  /** First sign-ins wait for changes of the same school. */
  firstSignIns: Db;
  clock: Clock;
  log: Log;
  issuerUrl: string;
  platform: string;
  contract: SignOnContract;
  lifetimes: Lifetimes;
  staffSecondFactor: StaffSecondFactor;
  withoutPkce: WithoutPkce;
  secrets: SharedSecrets;
  /** All keys, also those that only verify hints. */
  signingKeys: readonly SigningKey[];
  readPublishedKeys: ReadPublishedKeys;
  store: Store;
  findClientKeys: FindClientKeys;
  readAddress(req: IncomingMessage): string;
  limitTokens(pair: Pair): Promise<void>;
};

export type ShowPages = {
  showError(ctx: KoaContextWithOIDC, out: ErrorOut, error: Error): Promise<void>;
  /** Refuses one more open interaction; nothing that the request had set remains. */
  showTooMany(ctx: KoaContextWithOIDC, retryAfterSeconds: number): void;
  /** The same form was answered by another request, as at a double click; this response sets no cookies. */
  showAnswered(ctx: KoaContextWithOIDC): void;
  showLogoutConfirm(ctx: KoaContextWithOIDC, form: string): Promise<void>;
  /** Shows the page whose form the browser posts to the app. */
  showFormPost(ctx: KoaContextWithOIDC, form: { redirectUri: string; parameters: Record<string, string> }): void;
  showLoggedOut(ctx: KoaContextWithOIDC): Promise<void>;
};

/** What happens at the login that a school has elsewhere, in requests of the library. */
export type UpstreamSteps = {
  /** Where the browser gets a session without a page, before the app of a silent request is told that there is none. */
  beginSilently(ctx: KoaContextWithOIDC, address: string): Promise<URL | null>;
  /** Where the browser ends its session there; it goes on at `then`. */
  signOutUpstream(ctx: KoaContextWithOIDC, session: { id: string; then: string }): Promise<URL | null>;
  /** Nobody is signed in again unasked after signing out, and the login lets another person sign in. */
  noteSignedOut(ctx: KoaContextWithOIDC): void;
};
