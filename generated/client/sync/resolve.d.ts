import type { IdmClient } from "../client.ts";
import type { Copy, Hint, RecordKey, StoredRecord } from "./store.ts";
export type Reader = Pick<IdmClient, "findSchool" | "findUser" | "findGroup" | "findPerson" | "listIdentifierChanges" | "scopes">;
export type Resolved = {
    put: StoredRecord[];
    remove: RecordKey[];
};
/** Whether the scopes of the app let it read this kind of record. */
export declare const mayRead: ({ scopes }: Pick<IdmClient, "scopes">, kind: "schools" | "users" | "groups" | "people") => boolean;
/**
 * Says what to write after these hints, from the present state of what they are about. What the API shows counts, and
 * not the hint, so that hints that come late or twice do no harm; only of what it does not show the hints say whether
 * it may come back.
 */
export declare function resolveHints({ client, store, signal }: {
    client: Reader;
    store: Copy;
    signal: AbortSignal;
}, hints: readonly Hint[]): Promise<Resolved>;
