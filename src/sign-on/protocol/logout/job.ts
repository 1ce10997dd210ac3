import type { Clock } from "../../../platform/clock.ts";
import type { Db } from "../../../platform/database/db.ts";
import type { Log } from "../../../platform/telemetry/log.ts";
import type { WorkerJob } from "../../../platform/jobs/worker.ts";
import type { SigningKey } from "../keys/signing-keys.ts";
import {
  deleteLogoutNotice,
  leaseLogoutNotices,
  type LogoutNotice,
  postponeLogoutNotice,
} from "../../../accounts/index.ts";
import { makeLogoutToken, type Sender } from "./send.ts";

type Deps = {
  db: Db;
  clock: Clock;
  log: Log;
  issuerUrl: string;
  sender: Sender;
  sessionIds: Buffer;
  signingKeys(): readonly SigningKey[];
};

const retryDelaysSeconds = [5, 60, 600, 3600];
const leaseSeconds = 60;
const atOnce = 20;

export function makeLogoutJob(deps: Deps): WorkerJob {
  return {
    name: "sign-on.tellLogouts",
    everySeconds: 1,
    async run(signal) {
      for (let taken = atOnce; taken === atOnce && !signal.aborted;) {
        const notices = await leaseLogoutNotices(deps.db.pool, { now: deps.clock(), leaseSeconds, limit: atOnce });
        await Promise.all(notices.map((notice) => deliver(deps, notice)));
        taken = notices.length;
      }
    },
  };
}

async function deliver(deps: Deps, notice: LogoutNotice): Promise<void> {
  const { db, clock, log, sender, issuerUrl, sessionIds } = deps;
  try {
    await sender.send(
      notice.uri,
      await makeLogoutToken(notice, { issuerUrl, keys: deps.signingKeys(), sessionIds, now: clock() }),
    );
    await deleteLogoutNotice(db.pool, notice.id);
  } catch (err) {
    const delaySeconds = retryDelaysSeconds[notice.attempts - 1];
    log.warn(
      { err, clientId: notice.clientId, attempts: notice.attempts },
      delaySeconds === undefined
        ? "logout notice failed; no tries are left"
        : "logout notice failed; it will be sent again",
    );
    if (delaySeconds === undefined) await deleteLogoutNotice(db.pool, notice.id);
    else await postponeLogoutNotice(db.pool, notice.id, new Date(clock().getTime() + delaySeconds * 1000));
  }
}
