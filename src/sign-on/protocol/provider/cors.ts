import type { KoaContextWithOIDC, Provider } from "oidc-provider";
import { listPublicRedirectUris } from "../../../access/index.ts";
import type { RecordStore } from "../../../platform/database/db.ts";
import { isOriginOf } from "./client.ts";

type Context = Parameters<Parameters<Provider["use"]>[0]>[0];

/**
 * Limits what the library lets pages of other origins call. It compares the origin with the app, which a preflight
 * does not name: any public app will do. keycloak-js sends `credentials: include`; no endpoint for pages reads a
 * cookie.
 */
export async function limitPages(db: RecordStore, ctx: Context): Promise<void> {
  const origin = ctx.get("Origin");
  if (origin === "" || ctx.response.get("Access-Control-Allow-Origin") === "") return;
  const isPublic = ctx.path.startsWith("/.well-known/");
  const { client } = (ctx as Partial<KoaContextWithOIDC>).oidc ?? {};
  if (ctx.method === "OPTIONS" && !isPublic) {
    const redirectUris = await listPublicRedirectUris(db);
    if (!isOriginOf({ clientAuthMethod: "none", redirectUris }, origin)) return refusePage(ctx);
  }
  if (ctx.method === "OPTIONS" || isPublic || client !== undefined) ctx.set("Access-Control-Allow-Credentials", "true");
}

function refusePage(ctx: Context): void {
  for (const name of Object.keys(ctx.response.headers)) if (/^access-control-/i.test(name)) ctx.remove(name);
}
