import type { Provider } from "oidc-provider";
import type { PersonId } from "../../directory/index.ts";
import type { Clock } from "../../platform/clock.ts";
import type { PrismaDb } from "../../platform/db.ts";
import type { SharedSecrets } from "../keys/shared-secrets.ts";
import type { makeCheckPassword } from "../login/index.ts";

export type InteractionDeps = {
  db: PrismaDb;
  clock: Clock;
  platform: string;
  secrets: SharedSecrets;
  sessionSeconds: number;
  checkPassword: ReturnType<typeof makeCheckPassword>;
  findPersonName(personId: PersonId): Promise<string | null>;
  /** The current provider. Another one takes its place when signing keys change. */
  provider(): Provider;
};
