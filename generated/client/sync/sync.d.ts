import type { IdmClient } from "../client.ts";
import type { Webhook } from "../webhook.ts";
import type { RecordKey, Store } from "./store.ts";
export type SyncOptions = {
    client: IdmClient;
    store: Store;
    /** Told of each failure to work on webhooks; they are tried again. */
    onError?: ((error: unknown) => void) | undefined;
    /** The wait before webhooks are tried again, in milliseconds; it doubles up to a minute. Default 1000. */
    retryMs?: number | undefined;
};
export type Sync = {
    /**
     * Brings the copy up to date with the change feed; loads everything the first time, when the feed was not read for
     * too long, when the app reads with other scopes or attributes, and when so much changed that a load is faster. Call
     * it from time to time, also beside webhooks: it finds what they missed.
     */
    follow(): Promise<{
        hasLoaded: boolean;
    }>;
    /** Loads everything. */
    load(): Promise<void>;
    /** Keeps a webhook in the store and works on it later: confirm the request when this ends. */
    receive(webhook: Webhook): Promise<void>;
    /** Works on webhooks that a process before this one kept. `receive` does so too. */
    resume(): void;
    /** Reads one record anew, such as that of somebody who just signed in for the first time. */
    refresh(key: RecordKey): Promise<void>;
    /** Ends when no webhook is left to work on. */
    settled(): Promise<void>;
    /** Ends what is under way; webhooks stay in the store. */
    close(): Promise<void>;
};
/** Keeps a copy of what the app sees in a store. Everything is done one after the other, so one sync per store. */
export declare function makeSync({ client, store, onError, retryMs }: SyncOptions): Sync;
