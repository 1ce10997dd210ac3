import type { IdmClient } from "../client.ts";
import type { Copy } from "./store.ts";
type Load = {
    client: IdmClient;
    store: Copy;
    signal: AbortSignal;
    from?: string | undefined;
};
/**
 * Reads everything. The position in the change feed, `from` or the present one, comes first, so that what changes
 * meanwhile is behind it; it is kept last, so that a load that breaks off is done again. Somebody in no list is read
 * by id: who signed in once stays a user.
 */
export declare function loadEverything({ client, store, signal, from }: Load): Promise<void>;
/** What the store keeps of a position: with the scopes of the copy, if these are not all. */
export declare const keepPosition: (client: Pick<IdmClient, "scopes">, position: string) => string;
/** The position to go on from; null for a copy that was loaded with other scopes. */
export declare function readPosition(client: Pick<IdmClient, "scopes">, kept: string | null): string | null;
export {};
