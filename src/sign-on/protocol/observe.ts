import type { Response } from "express";
import type { KoaContextWithOIDC, Provider } from "oidc-provider";
import { observeSteps, type Step } from "./observe-steps.ts";

export type Count = {
  signIn(outcome: string): void;
  token(grant: string, clientId: string | undefined): void;
  signedIn(clientId: string | undefined, schoolId: string | undefined): void;
  refused(error: string, clientId: string | undefined): void;
  step(step: Step): void;
};

const answered = ["authorization.success", "authorization.error", "grant.success", "grant.error"] as const;

export function observeProvider(provider: Provider, count: Count | undefined): void {
  const noteClient = ({ res, oidc }: KoaContextWithOIDC) => {
    const { locals } = res as Response;
    if (oidc.client) locals["clientId"] = oidc.client.clientId;
  };
  for (const event of answered) provider.on(event as "grant.success", noteClient);
  if (count === undefined) return;
  observeSteps(provider, (step) => count.step(step));
  const clientOf = ({ oidc }: KoaContextWithOIDC) => oidc.client?.clientId;
  const noteRefusal = (ctx: KoaContextWithOIDC, { error }: { error: string }) => count.refused(error, clientOf(ctx));
  provider.on("authorization.error", noteRefusal);
  provider.on("grant.error", noteRefusal);
  provider.on("grant.success", (ctx) => {
    const grant = String(ctx.oidc.params?.["grant_type"]);
    count.token(grant, clientOf(ctx));
    const { schoolId } = (ctx.res as Response).locals;
    if (grant === "authorization_code") count.signedIn(clientOf(ctx), schoolId as string | undefined);
  });
}
