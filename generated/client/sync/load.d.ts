import type { IdmClient } from "../client.ts";
import type { Copy } from "./store.ts";
type Load = {
    client: IdmClient;
    store: Copy;
    signal: AbortSignal;
};
/**
 * Reads everything. The position in the change feed comes first, so that what changes meanwhile is behind it; it is
 * kept last, so that a load that breaks off is done again. Somebody in no list is read by id: who signed in once stays
 * a user.
 */
export declare function loadEverything({ client, store, signal }: Load): Promise<void>;
export {};
