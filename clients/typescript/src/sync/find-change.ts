import type { IdmClient } from "../client.ts";
import type { IdentifierChange } from "../contract.ts";
import { ApiError } from "../errors.ts";

/** The first change, or that of an id; null for a service without the list. */
export async function findChange(
  client: Pick<IdmClient, "listIdentifierChanges">,
  asked: { id?: string; signal: AbortSignal },
): Promise<IdentifierChange | null> {
  try {
    const { value } = await client.listIdentifierChanges({ limit: 1, ...asked }).next();
    return value ?? null;
  } catch (error) {
    if (error instanceof ApiError && error.status === 404) return null;
    throw error;
  }
}
