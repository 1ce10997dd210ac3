import type { Provider } from "oidc-provider";
import type { PersonId } from "../../directory/index.ts";
import type { Clock } from "../../platform/clock.ts";
import type { PrismaDb } from "../../platform/database/db.ts";
import type { EncryptionKeys } from "../../platform/crypto/seal.ts";
import type { FindInteraction } from "./find-interaction.ts";
import type { Upstream } from "../../upstream/index.ts";
import type { SharedSecrets } from "./keys/shared-secrets.ts";
import type { makeCheckPassword } from "../../accounts/index.ts";

/** Whether all staff need a second factor to sign in, or only those who have one. */
export type StaffSecondFactor = "required" | "offered";

export type InteractionDeps = {
  db: PrismaDb;
  clock: Clock;
  platform: string;
  issuerUrl: string;
  secrets: SharedSecrets;
  /** The first encrypts, each can decrypt. */
  encryptionKeys: EncryptionKeys;
  sessionSeconds: number;
  staffSecondFactor: StaffSecondFactor;
  checkPassword: ReturnType<typeof makeCheckPassword>;
  upstream: Pick<Upstream, "begin" | "finish" | "endByLogoutToken" | "logoutUrlOf">;
  findInteraction: FindInteraction;
  findPersonName(personId: PersonId): Promise<string | null>;
  /** The current provider; it is replaced when signing keys change. */
  provider(): Provider;
};
