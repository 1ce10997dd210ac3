import type { Response } from "express";
import type { KoaContextWithOIDC, Provider } from "oidc-provider";
import {
  isAccountRefusal,
  isConnectionFailure,
  type Begun,
  type Finished,
  type Upstream,
} from "../../upstream/index.ts";
import { observeSteps, type Step } from "./observe-steps.ts";

export type Count = {
  signIn(outcome: string): void;
  token(grant: string, clientId: string | undefined): void;
  signedIn(clientId: string | undefined, schoolId: string | undefined): void;
  refused(error: string, clientId: string | undefined): void;
  step(step: Step): void;
};

/** Counts sign-ins through schools' own logins; what a person cancelled or let expire is not counted. */
export function observeUpstream(upstream: Upstream, count: Count | undefined): Upstream {
  if (count === undefined) return upstream;
  const note = (result: Begun | Finished) => {
    if ("kind" in result && result.kind === "signed_in") count.signIn("ok");
    if (!("failure" in result)) return;
    if (isConnectionFailure(result.failure.code)) count.signIn("upstream_failed");
    if (isAccountRefusal(result.failure.code)) count.signIn("upstream_refused");
  };
  const noting = async <Result extends Begun | Finished>(step: Promise<Result>): Promise<Result> => {
    const result = await step;
    note(result);
    return result;
  };
  return {
    ...upstream,
    begin: (start) => noting(upstream.begin(start)),
    finish: (back) => noting(upstream.finish(back)),
  };
}

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
