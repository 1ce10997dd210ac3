import type { IdmClient } from "../client.ts";
import type { IdentifierChange } from "../contract.ts";
/** The first change, or that of an id; null for a service without the list. */
export declare function findChange(client: Pick<IdmClient, "listIdentifierChanges">, asked: {
    id?: string;
    signal: AbortSignal;
}): Promise<IdentifierChange | null>;
