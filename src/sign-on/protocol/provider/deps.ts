import type { IncomingMessage } from "node:http";
import type { Clock } from "../../../platform/clock.ts";
import type { Db, PrismaDb } from "../../../platform/database/db.ts";
import type { Log } from "../../../platform/telemetry/log.ts";
import type { Pair } from "../consent.ts";
import type { SignOnContract } from "../contract.ts";
import type { StaffSecondFactor } from "../deps.ts";
import type { SharedSecrets } from "../keys/shared-secrets.ts";
import type { ReadPublishedKeys } from "../keys/published-keys.ts";
import type { SigningKey } from "../keys/signing-keys.ts";
import type { Store } from "../storage/store.ts";
import type { FindClientKeys } from "./client-keys.ts";
import type { WithoutPkce } from "./without-pkce.ts";

export type Lifetimes = {
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
