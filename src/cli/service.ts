import { withTransaction } from "../platform/db.ts";
import { applyMigrations } from "../platform/migrate.ts";
import { reEncryptSecrets, rotateSigningKeys } from "../sign-on/index.ts";
import { reEncryptWebhookSecrets } from "../webhooks/index.ts";
import { makeCommand } from "./command.ts";
import { withServer } from "./database.ts";

/** Commands for the service as a whole. */
export const serviceCommands = {
  "rotate-signing-keys": makeCommand({
    summary: "Let the next signing keys sign, publish new next ones. Running processes follow within seconds.",
    run: ({ config, clock, withDatabase }) =>
      withDatabase(async ({ db }) => {
        const active = await rotateSigningKeys({ db, keys: config.encryptionKeys, now: clock() });
        return {
          lines: active.map(({ algorithm, kid }) => `${algorithm} tokens are now signed with ${kid}`),
          data: { active },
        };
      }),
  }),
  "re-encrypt": makeCommand({
    summary: "Encrypt all secrets with the first of ENCRYPTION_KEYS, so that the others can be removed.",
    run: ({ config, clock, withDatabase }) =>
      withDatabase(async ({ db }) => {
        const keys = config.encryptionKeys;
        const values =
          (await reEncryptSecrets({ db, keys, now: clock() })) +
          (await withTransaction(db, (tx) => reEncryptWebhookSecrets(tx, keys)));
        return { lines: [`${values} values are now encrypted with the first key`], data: { values } };
      }),
  }),
  migrate: makeCommand({
    summary: "Bring the database to this version and end. A start does the same by itself.",
    run: ({ config, tell }) =>
      withServer(config, tell, async (url) => {
        const applied = await applyMigrations(url, { say: tell });
        return {
          lines: applied.length === 0 ? ["nothing to do"] : applied.map((name) => `applied ${name}`),
          data: { applied },
        };
      }),
  }),
  "check-config": makeCommand({
    summary: "Tell whether the service would accept its configuration.",
    run: async ({ config: { issuerUrl, baseUrl, production } }) => ({
      lines: [`The configuration is fit for ${production ? "production" : "development"}. Issuer: ${issuerUrl}`],
      data: { ok: true, production, issuerUrl, baseUrl },
    }),
  }),
};
