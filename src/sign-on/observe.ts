import type { Response } from "express";
import type { KoaContextWithOIDC, Provider } from "oidc-provider";

export type Count = { signIn(outcome: string): void; token(grant: string): void };

const answered = ["authorization.success", "authorization.error", "grant.success", "grant.error"] as const;

/** Records in log and metrics which app was answered and what was issued. */
export function observeProvider(provider: Provider, count: Count | undefined): void {
  const noteClient = ({ res, oidc }: KoaContextWithOIDC) => {
    const { locals } = res as Response;
    if (oidc.client) locals["clientId"] = oidc.client.clientId;
  };
  for (const event of answered) provider.on(event as "grant.success", noteClient);
  provider.on("grant.success", ({ oidc }) => count?.token(String(oidc.params?.["grant_type"])));
}
