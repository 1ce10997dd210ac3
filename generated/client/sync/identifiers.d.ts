import type { IdmClient } from "../client.ts";
import type { Copy, Store } from "./store.ts";
type Reader = Pick<IdmClient, "listIdentifierChanges" | "scopes">;
/** What was read may have the new ids of people, and the copy still has the old ones. */
export declare class IdsChanged extends Error {
}
export type Identifiers = {
    /** The store; writes of people fail with `IdsChanged` if they may mix old and new ids. */
    copy: Copy;
    haveChanged(): Promise<boolean>;
    /** Gives everybody in the copy their new id, and calls `load`. It does no harm to begin again after a crash. */
    takeOver(load: (copy: Copy) => Promise<void>): Promise<void>;
};
/** The app may be moved to ids of its own at any time, between two calls too: asked behind each reading. */
export declare function makeIdentifiers({ client, store, signal, }: {
    client: Reader;
    store: Store;
    signal: AbortSignal;
}): Identifiers;
export {};
