import type { IncomingMessage, ServerResponse } from "node:http";
import type { Provider } from "oidc-provider";
import type { App } from "../../access/index.ts";
import type { Clock } from "../../platform/clock.ts";
import { type Interaction, readInteractionId, restoreInteraction } from "./provider/library.ts";
import { hashId } from "./storage/artifact.ts";
import type { Store } from "./storage/store.ts";

/** `app` is null if it was deleted. */
type FoundInteraction = { interaction: Interaction; app: App | null; logoPath: string | null };

export type FindInteraction = (id: string) => Promise<FoundInteraction | null>;

/** The function returns null if the interaction, or the session that it began with, has ended. */
export function makeFindInteraction({
  store,
  clock,
  provider,
}: {
  store: Pick<Store, "findInteraction">;
  clock: Clock;
  provider(): Provider;
}): FindInteraction {
  return async (id) => {
    const found = await store.findInteraction(hashId(id));
    if (found === null || found.expiresAt <= clock()) return null;
    const { payload, app, logoPath, sessionPersonId } = found;
    const interaction = restoreInteraction(provider(), id, payload);
    const hasSession = interaction.session?.uid !== undefined;
    return hasSession && interaction.session?.accountId !== sessionPersonId ? null : { interaction, app, logoPath };
  };
}

export const readOwnInteractionId = (provider: Provider, req: IncomingMessage, res: ServerResponse): string | null =>
  readInteractionId(provider, provider.createContext(req, res).cookies);
