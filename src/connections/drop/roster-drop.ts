import { rm } from "node:fs/promises";
import { setTimeout as sleep } from "node:timers/promises";
import type { Clock } from "../../platform/clock.ts";
import { hmac } from "../../platform/crypto/seal.ts";
import { uuidPattern } from "../../platform/crypto/ids.ts";
import type { PrismaDb } from "../../platform/database/db.ts";
import { giveTokensBack, takeToken } from "../../platform/database/token-bucket.ts";
import { AppError } from "../../platform/errors.ts";
import type { Log } from "../../platform/telemetry/log.ts";
import type { RosterConnectionId } from "../connection.ts";
import type { RosterRuns } from "../roster-runs.ts";
import { describeFile } from "../sources/file.ts";
import type { DropAddress, SourceSettings } from "../sources/source.ts";
import { fingerprintOf, makeHostKey, openDropServer, type DropDoor, type DropServer } from "./server.ts";

type Deps = { db: PrismaDb; runs: Pick<RosterRuns, "arrive">; clock: Clock; log: Log };
type ListenOptions = {
  host: string;
  port: number;
  /** Makes the host key. */
  secret: Buffer;
  waitMs?: number | undefined;
};

const mostBytes = 64 * 2 ** 20;
const failedSignIns = { capacity: 20, refillSeconds: 600 };
const extensions = ["csv", "txt", "zip", "json", "xlsx", "xlsm"];

type Service = { issuerUrl: string; sftpPort?: number | undefined; sftpAddress?: string | undefined };

/** What programs need to know of the SFTP server, which is at the host of the service unless an address is set. */
export const describeRosterDrop = ({ issuerUrl, sftpPort, sftpAddress }: Service, secret: Buffer): DropAddress => ({
  address: sftpAddress ?? `sftp://${new URL(issuerUrl).hostname}:${sftpPort}`,
  fingerprint: fingerprintOf(makeHostKey(secret)),
});

/** Takes files for connections of the kind SFTP; the user name is the id of the connection. */
export async function openRosterDrop(deps: Deps, { waitMs = 5000, ...place }: ListenOptions): Promise<DropServer> {
  const { db, runs, clock, log } = deps;
  const triesOf = (address: string) => ({
    key: hmac(place.secret).update(`sign-in ${address}`).digest(),
    ...failedSignIns,
  });
  const door: DropDoor = {
    async findKeys(userName) {
      if (!uuidPattern.test(userName)) return null;
      const where = { id: userName, kind: "SFTP", state: "ON" };
      const row = await db.prisma.rosterConnection.findFirst({ where, select: { settings: true } });
      return (row?.settings as SourceSettings | undefined)?.publicKeys ?? null;
    },
    async take(userName, { path, extension }) {
      // The whole name may hold names of people.
      const fileName = extensions.includes(extension) ? `sftp.${extension}` : "sftp";
      try {
        const arriving = runs.arrive(userName as RosterConnectionId, { path, fileName, ...(await describeFile(path)) });
        await Promise.race([arriving, sleep(waitMs, undefined, { ref: false })]);
        return true;
      } catch (error) {
        await rm(path, { force: true });
        if (!(error instanceof AppError)) throw error;
        log.info({ connectionId: userName, code: error.code }, "a file was not taken over SFTP");
        return false;
      }
    },
    beginTry: async (address) => (await takeToken(db.pool, triesOf(address), clock())) === null,
    giveBackTry: (address) => giveTokensBack(db.pool, [triesOf(address)]),
  };
  const server = await openDropServer({ ...place, mostBytes, log }, door);
  log.info({ port: server.port, fingerprint: server.fingerprint }, "rosters are taken over SFTP");
  return server;
}
