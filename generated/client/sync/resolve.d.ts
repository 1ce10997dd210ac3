import type { IdmClient } from "../client.ts";
import type { RecordKey, StoredRecord } from "./store.ts";
export type Reader = Pick<IdmClient, "findSchool" | "findUser" | "findGroup" | "findPerson" | "scopes">;
export type Resolved = {
    put: StoredRecord[];
    remove: RecordKey[];
};
/** Whether the scopes of the app let it read this kind of record. */
export declare const mayRead: ({ scopes }: Pick<IdmClient, "scopes">, kind: "schools" | "users" | "groups" | "people") => boolean;
/**
 * Says what to write after these hints: what the API shows now, and not what the hints say, so that hints that come
 * late or twice do no harm.
 */
export declare function resolveHints({ client, signal }: {
    client: Reader;
    signal: AbortSignal;
}, hints: readonly RecordKey[]): Promise<Resolved>;
