import { isDeepStrictEqual } from "node:util";
import type { CustomFetch } from "openid-client";
import { addDays, type Clock } from "../platform/clock.ts";
import type { PrismaDb } from "../platform/database/db.ts";
import { makeFind, makeRun, sql, update } from "../platform/database/sql.ts";
import { makeTurns } from "../platform/concurrency/turns.ts";
import type { EncryptionKeys } from "../platform/crypto/seal.ts";
import { findJsonFault } from "../platform/text/outside-json.ts";
import { UpstreamError } from "./failures.ts";
import type { ConnectionId } from "./ids.ts";
import { readKeys, readMetadata, type KeySet, type Metadata } from "./metadata.ts";
import type { FindKeys, Known } from "./provider.ts";
import { connection, connectionFields, readyOf, type ConnectionRow, type ReadyConnection } from "./ready-connection.ts";

type ContactDeps = {
  db: PrismaDb;
  clock: Clock;
  encryptionKeys: EncryptionKeys;
  /** In development. */
  allowHttp: boolean;
  fetchFor(connectionId: ConnectionId): CustomFetch;
};

/** What is known of a provider: its discovery document and its keys, from the database, read anew when needed. */
export type Contact = {
  find(id: ConnectionId): Promise<ConnectionRow | null>;
  /** With the metadata, read now if never before. Errors: CONNECTION_OFF, UPSTREAM_DOWN, INVALID_RESPONSE. */
  know(row: ConnectionRow): Promise<Known>;
  /** Reads both now and stores them. Errors: UPSTREAM_DOWN, INVALID_RESPONSE. */
  refresh(connection: ReadyConnection): Promise<Known>;
  /** `source`: the address that a token is from; null if it is from the provider itself. */
  keysOf(known: Known, source: string | null): FindKeys;
};

const findRow = makeFind<ConnectionRow, { id: ConnectionId }>("upstream.findConnection")`
  SELECT ${connectionFields} FROM ${connection} WHERE ${connection.id} = ${"id"}`;

type Stored = { id: ConnectionId; issuer: string; metadata: string; keys: string; now: Date; refreshAt: Date };

// Nothing is stored if the connection got another issuer meanwhile.
const store = makeRun<Stored>(
  ({ id, issuer, metadata, keys, now, refreshAt }) => sql`
    ${update("upstreamConnection", "connection", {
      metadata: sql`${metadata}::jsonb`,
      metadataReadAt: now,
      keys: sql`${keys}::jsonb`,
      keysReadAt: now,
      refreshAt,
    })} WHERE ${connection.id} = ${id} AND ${connection.issuer} = ${issuer}`,
  "upstream.storeMetadata",
);

const originOf = (address: string): string => new URL(address).origin;

/**
 * The client secret goes to the host of the issuer that it was typed for, or to the one that the issuer named then. A
 * secret that is typed again makes the document unknown. Errors: INVALID_RESPONSE.
 */
function refuseOtherHost({ issuer, metadata: known }: ReadyConnection, { token_endpoint: named }: Metadata): void {
  if (known === null || [issuer, known.token_endpoint].map(originOf).includes(originOf(named))) return;
  const remedy = "if that is right, type the client secret again";
  throw new UpstreamError(
    "INVALID_RESPONSE",
    `the discovery document names a token endpoint on another host: ${remedy}`,
  );
}

/**
 * How often keys are read because of tokens that no key fits. Anybody can make up a logout token, so that each address
 * has its own turns, and ID tokens, which the provider itself sends, have theirs. Changed keys end all turns.
 */
const turnsOfTokens = { windowSeconds: 60, each: 3, sources: 5 };
const mostRemembered = 1000;

export function makeContact(deps: ContactDeps): Contact {
  const { db, clock, allowHttp } = deps;
  // A key set is imported once in a process, and once at a time is it read.
  const remembered = new Map<ConnectionId, { readAt: number; keys: KeySet }>();
  const reading = new Map<ConnectionId, Promise<Known>>();
  const turns = makeTurns(clock, turnsOfTokens);

  const readNow = async (of: ReadyConnection): Promise<Known> => {
    const fetch = deps.fetchFor(of.id);
    const metadata = await readMetadata(fetch, { issuer: of.issuer, allowHttp });
    refuseOtherHost(of, metadata);
    const keys = await readKeys(fetch, metadata);
    const fault = findJsonFault({ ...metadata, ...keys });
    if (fault !== null)
      throw new UpstreamError("INVALID_RESPONSE", `${fault.path.join("/")} of the provider ${fault.fault}`);
    const now = clock();
    const texts = { metadata: JSON.stringify(metadata), keys: JSON.stringify(keys) };
    await store(db.pool, { id: of.id, issuer: of.issuer, ...texts, now, refreshAt: addDays(now, 1) });
    return { ...of, metadata, keys, keysReadAt: now };
  };
  const refresh = (of: ReadyConnection): Promise<Known> => {
    const started = reading.get(of.id) ?? readNow(of).finally(() => reading.delete(of.id));
    reading.set(of.id, started);
    return started;
  };
  const remember = (id: ConnectionId, { keys, keysReadAt }: { keys: KeySet; keysReadAt: Date | null }): KeySet => {
    const readAt = keysReadAt?.getTime() ?? 0;
    const known = remembered.get(id);
    // A connection that was looked up before another token had the keys read.
    if (known !== undefined && known.readAt >= readAt) return known.keys;
    if (remembered.size >= mostRemembered) remembered.clear();
    remembered.set(id, { readAt, keys });
    return keys;
  };
  /** Reads the keys anew, or waits for those who do so already; null if it is nobody's turn. */
  const readAgain = async (known: Known, source: string | null): Promise<Known | null> => {
    const { id } = known;
    const running = reading.get(id);
    if (running !== undefined) return running;
    if (!turns.take(id, source)) return null;
    try {
      const read = await refresh(known);
      if (!isDeepStrictEqual(read.keys, remembered.get(id)?.keys ?? known.keys)) turns.close(id);
      return read;
    } catch (error) {
      turns.close(id, source);
      throw error;
    }
  };
  const know = async (row: ConnectionRow): Promise<Known> => {
    const ready = readyOf(row, deps.encryptionKeys);
    const { metadata } = ready;
    return metadata === null || ready.keys === null ? refresh(ready) : { ...ready, metadata: metadata as Metadata };
  };
  return {
    find: async (id) => (await findRow(db.pool, { id }))[0] ?? null,
    know,
    refresh,
    keysOf:
      (known, source) =>
      async ({ newer }) => {
        const { id, keys, keysReadAt } = known;
        if (keys === null) throw new UpstreamError("INVALID_RESPONSE", "there are no keys");
        const read = newer ? await readAgain(known, source) : null;
        if (read !== null) remembered.delete(id);
        return remember(id, read === null ? { keys, keysReadAt } : { keys: read.keys!, keysReadAt: read.keysReadAt });
      },
  };
}
