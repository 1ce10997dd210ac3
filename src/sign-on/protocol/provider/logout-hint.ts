import { decodeJwt } from "jose";
import type { Provider } from "oidc-provider";

type Context = { query: NodeJS.Dict<string | string[]> };

/** Replaces a valid `id_token_hint` by its `client_id`, because the library reads `aud` as a string, not a list. */
export async function nameClientOfHint(provider: Provider, ctx: Context): Promise<void> {
  const { id_token_hint: hint, client_id: named, ...others } = ctx.query;
  if (typeof hint !== "string") return;
  const clientId = readAudience(hint);
  if (clientId === null || (named !== undefined && named !== clientId)) return;
  const client = await provider.Client.find(clientId);
  if (!client) return;
  const isValid = await provider.IdToken.validate(hint, client).then(
    () => true,
    () => false,
  );
  if (isValid) ctx.query = { ...others, client_id: clientId };
}

function readAudience(jwt: string): string | null {
  try {
    return [decodeJwt(jwt).aud].flat()[0] ?? null;
  } catch {
    return null;
  }
}
