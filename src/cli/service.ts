import type { Schemas } from "./admin-api.ts";
import { makeMachineCommand, type Result } from "./command.ts";
import { withNewServer } from "./local/database.ts";
import { tableOf, type Columns } from "./lines.ts";
import { contractCommand } from "./partner-commands.ts";
import type { LostSecrets } from "../sign-on/index.ts";
import type { ReplacedSecret } from "../webhooks/index.ts";

const replacedColumns: Columns<ReplacedSecret> = {
  endpoint: ({ endpointId }) => endpointId,
  app: ({ clientId }) => clientId,
  url: ({ url }) => url,
  secret: ({ secret }) => secret,
};

type Lost = LostSecrets & { connections: number; rosters: number };

const replacedKeys = (lost: Lost, endpoints: readonly ReplacedSecret[]): Result => ({
  table: tableOf(endpoints, replacedColumns),
  lines: [
    `Authenticator apps removed: ${lost.authenticators}. Cards revoked: ${lost.cards}. Everybody signs in again.`,
    `Connections to schools' own logins that need their secret again: ${lost.connections}.`,
    `Roster connections that need their secret again: ${lost.rosters}.`,
    "Signing keys are made at the next start. Secrets of webhooks are not shown again.",
  ],
  quiet: endpoints.map(({ secret }) => secret),
  data: { ...lost, endpoints },
});

function showRotated(keys: readonly Schemas["SigningKey"][]): Result {
  const active = keys.flatMap(({ state, algorithm, kid }) => (state === "ACTIVE" ? [{ algorithm, kid }] : []));
  return {
    lines: active.map(({ algorithm, kid }) => `${algorithm} tokens are now signed with ${kid}.`),
    quiet: active.map(({ kid }) => kid),
    data: { active },
  };
}

export const serviceCommands = {
  "rotate-signing-keys": contractCommand("rotate-signing-keys", { print: showRotated }),
  "re-encrypt": makeMachineCommand({
    summary: "Encrypt all secrets with the first of ENCRYPTION_KEYS, so that the others can be removed.",
    run: async ({ config, clock, withDatabase }) => {
      const { withPrismaTransaction, withTransaction } = await import("../platform/database/db.ts");
      const { reEncryptSecrets } = await import("../sign-on/index.ts");
      const { reEncryptRosterSecrets } = await import("../connections/index.ts");
      const { reEncryptUpstreamSecrets } = await import("../upstream/index.ts");
      const { reEncryptWebhookSecrets } = await import("../webhooks/index.ts");
      return withDatabase(async ({ db }) => {
        const keys = config.encryptionKeys;
        const values =
          (await reEncryptSecrets({ db, keys, now: clock() })) +
          (await withTransaction(db, (tx) => reEncryptWebhookSecrets(tx, keys))) +
          (await withTransaction(db, (tx) => reEncryptUpstreamSecrets(tx, keys))) +
          (await withPrismaTransaction(db, (tx) => reEncryptRosterSecrets(tx, keys)));
        return { lines: [`Values encrypted with the first key: ${values}.`], data: { values } };
      });
    },
    reason: "The keys are in the configuration of the service.",
  }),
  "replace-lost-keys": makeMachineCommand({
    summary: "Prepare the database for new ENCRYPTION_KEYS if the old ones are lost. Run it before the service starts.",
    irreversible:
      "This signs everybody out, removes authenticator apps, recovery codes and cards with a second step, and gives every webhook endpoint another secret.",
    run: async ({ config, origin, withDatabase }) => {
      const { withPrismaTransaction } = await import("../platform/database/db.ts");
      const { forgetLostSecrets } = await import("../sign-on/index.ts");
      const { forgetLostRosterSecrets } = await import("../connections/index.ts");
      const { forgetLostUpstreamSecrets } = await import("../upstream/index.ts");
      const { replaceLostSecrets } = await import("../webhooks/index.ts");
      const keys = config.encryptionKeys;
      return withDatabase(({ db }) =>
        withPrismaTransaction(db, async (tx) => {
          const signOn = await forgetLostSecrets(tx, keys, origin());
          const rosters = await forgetLostRosterSecrets(tx);
          const lost = { ...signOn, connections: await forgetLostUpstreamSecrets(tx), rosters };
          return replacedKeys(lost, await replaceLostSecrets(tx, { keys, now: origin().at }));
        }),
      );
    },
    reason: "The keys are in the configuration of the service.",
  }),
  migrate: makeMachineCommand({
    summary: "Migrate the database to this version and exit. The service does the same when it starts.",
    run: async ({ config, tell }) => {
      const { applyMigrations } = await import("../platform/migrations/migrate.ts");
      const applied = await withNewServer(config, tell, (url) => applyMigrations(url, { say: tell }));
      const lines = applied.length === 0 ? ["Nothing to do."] : applied.map((name) => `Applied ${name}.`);
      return { lines, quiet: applied, data: { applied } };
    },
    reason: "The service migrates its database when it starts.",
  }),
  "check-config": makeMachineCommand({
    summary: "Check whether the service would accept its configuration.",
    run: async ({ config: { issuerUrl, baseUrl, production } }) => ({
      lines: [`The configuration is valid for ${production ? "production" : "development"}. Issuer: ${issuerUrl}`],
      data: { ok: true, production, issuerUrl, baseUrl },
    }),
    reason: "The configuration is on the machine of the service.",
  }),
};
