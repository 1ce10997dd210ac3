import createClient from "openapi-fetch";
import type { paths } from "../../generated/openapi/admin.ts";
import type { OpenDb } from "../platform/database/db.ts";
import type { Service } from "./admin-api.ts";
import type { Tools } from "./command.ts";
import { addPolicyHint, policyOf } from "./outbound-policy.ts";
import { readRefusal } from "./remote/send.ts";

const inServiceOnly = (): never => {
  throw new Error("Only a running service does this.");
};

/** Not called: requests stay in this process. */
const baseUrl = "http://local.invalid";

/** Connects a command to the admin API in this process; the database is opened for the first call. */
export function connectHere(machine: Tools): Service {
  const { tell, showProgress } = machine;
  let opened: ReturnType<typeof openAdmin> | undefined;
  const api = createClient<paths>({
    baseUrl,
    fetch: async (request) => {
      const send = await (opened ??= machine.withDatabase(({ db }) => openAdmin(machine, db)));
      const response = await send(request);
      if (!response.ok) throw addPolicyHint(await readRefusal(response));
      return response;
    },
  });
  return { api, tell, showProgress, machine };
}

/** Opens the admin API on a database with the rights of an operator. */
async function openAdmin(machine: Tools, db: OpenDb) {
  const [{ makeProgramFetch }, { loadDocument, makeReading }, { silentLog }, { deriveKeys }] = await Promise.all([
    import("../admin/index.ts"),
    import("../platform/http/index.ts"),
    import("../platform/telemetry/log.ts"),
    import("../platform/crypto/seal.ts"),
  ]);
  const { config, clock } = machine;
  return makeProgramFetch(
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
}
