import { type App, authMethodOf } from "../../../access/index.ts";
import type { Clock } from "../../../platform/clock.ts";
import { makeTurns } from "../../../platform/concurrency/turns.ts";
import { type PublicKey, readKeySet } from "../../../platform/crypto/public-key.ts";
import type { GuardedSender } from "../../../platform/outbound/guarded-request.ts";

/** `areMissing`: the key set could not be read, and what is known of it does not have the key. */
export type ClientKeys = { keys: readonly PublicKey[]; areMissing: boolean };

/** The public keys of an app, those at its `jwksUri` only if an assertion was signed with the key `kid`. */
export type FindClientKeys = (app: App, assertion: Assertion | null) => Promise<ClientKeys>;

/** `address`: where it is from. */
type Assertion = { kid: string | undefined; address: string };

type KeySet = {
  keys: readonly PublicKey[];
  /** When the keys were read, and when that was tried last. */
  readAt: number;
  triedAt: number;
};

const seconds = { fresh: 300, keptOnFailure: 3600 };
/** How often a set is read again; forged assertions of one address take no turn from the app's own. */
const turnsOfAssertions = { windowSeconds: 10, each: 1, sources: 5 };
const mostKeySets = 1000;
const most = { bytes: 65_536, keys: 50 };

/**
 * Reads the key sets of apps and keeps each for five minutes. A key that is unknown, as after a rotation, has it read
 * again; at most every ten seconds for an address, so that forged assertions do not make this service call another one.
 * If a set cannot be read, its keys stay valid for an hour.
 */
export function makeFindClientKeys(get: GuardedSender["get"], clock: Clock): FindClientKeys {
  const known = new Map<string, KeySet>();
  const running = new Map<string, Promise<KeySet>>();
  const turns = makeTurns(clock, turnsOfAssertions);

  async function read(uri: string, before: KeySet | undefined): Promise<KeySet> {
    const now = clock().getTime() / 1000;
    const keys = await fetchKeys(get, uri).catch(() => null);
    const lastKeys = before !== undefined && now - before.readAt < seconds.keptOnFailure ? before : null;
    const found =
      keys === null
        ? { keys: lastKeys?.keys ?? [], readAt: lastKeys?.readAt ?? 0, triedAt: now }
        : { keys, readAt: now, triedAt: now };
    known.delete(uri);
    known.set(uri, found);
    if (known.size > mostKeySets) known.delete(known.keys().next().value!);
    return found;
  }

  function readOnce(uri: string, before: KeySet | undefined): Promise<KeySet> {
    const started = running.get(uri) ?? read(uri, before).finally(() => running.delete(uri));
    running.set(uri, started);
    return started;
  }

  return async (app, assertion) => {
    const { publicKeys, jwksUri } = app;
    if (assertion === null || authMethodOf(app) !== "private_key_jwt") return { keys: publicKeys, areMissing: false };
    if (jwksUri === null) return { keys: readKeySet(publicKeys), areMissing: false };
    const before = known.get(jwksUri);
    const now = clock().getTime() / 1000;
    const isCurrent = before !== undefined && now - before.readAt < seconds.fresh && hasKey(before, assertion);
    const mayRead = !isCurrent && (turns.take(jwksUri, assertion.address) || before === undefined);
    const found = mayRead || running.has(jwksUri) ? await readOnce(jwksUri, before) : before!;
    if (mayRead && found.readAt !== found.triedAt) turns.close(jwksUri);
    return { keys: found.keys, areMissing: found.readAt !== found.triedAt && !hasKey(found, assertion) };
  };
}

const hasKey = ({ keys }: KeySet, { kid }: Assertion): boolean =>
  kid !== undefined && keys.some((key) => key.kid === kid);

async function fetchKeys(get: GuardedSender["get"], uri: string): Promise<readonly PublicKey[]> {
  const headers = { accept: "application/json, application/jwk-set+json" };
  const { status, start } = await get(new URL(uri), { headers, mostBytes: most.bytes });
  if (status !== 200) throw new Error(`the key set was answered with ${status}`);
  const { keys } = JSON.parse(start.toString()) as { keys: unknown[] };
  return readKeySet(keys.slice(0, most.keys));
}
