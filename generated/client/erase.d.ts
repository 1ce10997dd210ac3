import type { IdmClient } from "./client.ts";
import type { Erasure, ErasureOutcome } from "./contract.ts";
/** Erases what the app stores about a person; answers why something is kept, or nothing. */
export type Erase = (personId: string, erasure: Erasure) => Promise<ErasureOutcome["reason"]> | Promise<void>;
/**
 * Erases whom the service asks the app to erase, and confirms each. Call it once a day and when an event has an
 * `erasureId`. After a failure, call it again: what is not confirmed is asked for again.
 *
 * Shape: how many were confirmed.
 */
export declare function eraseAsAsked(client: Pick<IdmClient, "listErasures" | "acknowledgeErasure">, erase: Erase, options?: {
    signal?: AbortSignal | undefined;
}): Promise<number>;
