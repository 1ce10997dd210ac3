import { makeProgramClient } from "../admin/index.ts";
import type { OpenDb } from "../platform/database/db.ts";
import { loadDocument, makeReading } from "../platform/http/index.ts";
import { silentLog } from "../platform/telemetry/log.ts";
import { deriveKeys } from "../platform/crypto/seal.ts";
import type { Service } from "./admin-api.ts";
import type { Tools } from "./command.ts";
import { addPolicyHint, policyOf } from "./outbound-policy.ts";
import { readRefusal } from "./remote/send.ts";

const inServiceOnly = (): never => {
  throw new Error("Only a running service does this.");
};

/** Connects a command to the admin API in this process, on an open database and with the rights of an operator. */
export async function connectHere(machine: Tools, db: OpenDb): Promise<Service> {
  const { config, clock, tell, showProgress } = machine;
  const api = makeProgramClient(
    {
      db,
      clock,
      log: silentLog,
      document: await loadDocument("admin", config.platform),
      reading: makeReading({ pool: db.pool, canceller: db.pool, isReplica: false }, config.lists),
      keys: deriveKeys(config.encryptionKeys, "admin"),
      webhookKeys: config.encryptionKeys,
      platform: config.platform,
      issuerUrl: config.issuerUrl,
      allowLoopbackHttp: !config.production,
      policy: policyOf(machine),
      restoreWindowDays: config.restoreWindowDays,
      supportRoleDays: config.supportRoleDays,
      checkAnswers: false,
      healthChecks: [],
      jobs: [],
      checkAccessToken: inServiceOnly,
      needsSecondFactor: inServiceOnly,
      makeCard: inServiceOnly,
      fetchAsApp: inServiceOnly,
      listeners: { wait: inServiceOnly, rules: { retrySeconds: [], random: inServiceOnly, count: inServiceOnly } },
      get imports(): never {
        return inServiceOnly();
      },
    },
    machine.origin().actorId,
  );
  api.use({
    async onResponse({ response }) {
      if (!response.ok) throw addPolicyHint(await readRefusal(response));
    },
  });
  return { api, tell, showProgress, machine };
}
