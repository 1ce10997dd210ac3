import type { Response } from "express";
import type { KoaContextWithOIDC, Provider } from "oidc-provider";
import { hasPassword } from "../../accounts/index.ts";
import { isAccountRefusal, isConnectionFailure } from "../../upstream/index.ts";
import type { Begun, Finished, Upstream } from "../../upstream/index.ts";
import { hash } from "node:crypto";
import { parse } from "node:querystring";
import { type SentParameter, type TokenFault, tokenFaultTexts } from "../../platform/advice/sign-on/index.ts";
import { escapeUnprintable } from "../../platform/text/unprintable.ts";
import { publicFaultOf, tokenFaultOf, describeAuthorization, describeTokenRequest } from "./diagnosis.ts";
import { scopePlatformsOf } from "./provider/client.ts";
import { exchangedCodeOf } from "./provider/make-provider.ts";

export type Count = {
  signIn(outcome: string): void;
  token(grant: string, clientId: string | undefined): void;
  /** `password`: it was typed for this sign-on. */
  signedIn(clientId: string | undefined, schoolId: string | undefined, by: { password: boolean }): void;
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
    if (grant === "authorization_code")
      count.signedIn(clientOf(ctx), schoolId as string | undefined, { password: tookPassword(ctx.oidc) });
  });
}

/** Whether the person typed a password for the code, instead of having a session or another way in; to the second. */
function tookPassword({ entities }: KoaContextWithOIDC["oidc"]): boolean {
  const { amr, authTime = 0, claims } = (entities.AuthorizationCode ?? {}) as Issued;
  return hasPassword(amr) && authTime >= (claims?.id_token?.rat?.value ?? Infinity);
}

/** A step of a sign-on to an app, without the person. */
type Step = {
  clientId: string;
  requestId: string;
  /** Shared by the steps of one sign-on; the step `code` joins several of them with `>`. */
  attempt: string;
  step: string;
  outcome: "done" | "waiting" | "refused";
  code: string | null;
  description: string | null;
  /** Why exactly; also what the response does not say. */
  reason: TokenFault | null;
  /** Describes what the app sent, for requests of the app; to be read at once or not at all. */
  readSent?: () => SentParameter[];
};

type Refusal = { error: string; error_description?: string | undefined };
type Issued = {
  grantId?: string;
  amr?: string[];
  authTime?: number;
  claims?: { id_token?: { rat?: { value?: number } } };
};

const longestDescription = 300;
const shorten = (...parts: unknown[]): string => hash("sha256", JSON.stringify(parts)).slice(0, 24);

const textOf = (value: unknown): string | null => (typeof value === "string" ? value : null);

const requestIdOf = ({ res }: KoaContextWithOIDC): string =>
  textOf((res as Partial<Response>).locals?.["requestId"]) ?? "";

function attemptOf(ctx: KoaContextWithOIDC): string {
  const { rat, state, nonce, code_challenge: challenge } = (ctx.oidc.params ?? {}) as Record<string, unknown>;
  return shorten(ctx.oidc.client?.clientId, rat ?? requestIdOf(ctx), state, nonce, challenge);
}

function exchangeOf({ grantId, claims }: Issued): string {
  return shorten(grantId, claims?.id_token?.rat?.value);
}

/** The parameters as the app sent them, before the library and this module changed them. */
const givenOf = ({ method, originalUrl, oidc }: KoaContextWithOIDC): Record<string, unknown> =>
  (method === "POST" ? oidc.body : { ...parse(originalUrl.split("?")[1] ?? "") }) ?? {};

function clientOf({ oidc }: KoaContextWithOIDC) {
  const { clientId, redirectUris, scope, clientAuthMethod, ...client } = oidc.client!;
  const isPkceRequired = client["pkce_required"] === true;
  const scopePlatforms = scopePlatformsOf(oidc.client);
  return { clientId, redirectUris, scope, scopePlatforms, isPkceRequired, authMethod: clientAuthMethod ?? "" };
}

const readAuthorization = (ctx: KoaContextWithOIDC) => () => describeAuthorization(givenOf(ctx), clientOf(ctx));

const readTokenRequest = (ctx: KoaContextWithOIDC) => () =>
  describeTokenRequest(givenOf(ctx), {
    client: clientOf(ctx),
    code: exchangedCodeOf(ctx),
    header: ctx.get("authorization") || undefined,
  });

function observeSteps(provider: Provider, note: (step: Step) => void): void {
  type Noted = Pick<Step, "step" | "outcome" | "readSent"> & { attempt?: string; refusal?: Refusal };
  const add = (ctx: KoaContextWithOIDC, { attempt, refusal, ...rest }: Noted): void => {
    const clientId = ctx.oidc.client?.clientId;
    if (clientId === undefined) return;
    const fault = publicFaultOf(ctx);
    const description = fault === null ? (refusal?.error_description ?? null) : tokenFaultTexts.en[fault];
    note({
      clientId,
      requestId: requestIdOf(ctx),
      attempt: attempt ?? attemptOf(ctx),
      ...rest,
      code: refusal?.error ?? null,
      reason: tokenFaultOf(ctx),
      description: description && escapeUnprintable(description.slice(0, longestDescription)),
    });
  };
  const answered = new WeakMap<KoaContextWithOIDC, string>();
  const addAnswered = (ctx: KoaContextWithOIDC): void => {
    const page = answered.get(ctx);
    if (page === undefined) add(ctx, { step: "authorize", outcome: "done", readSent: readAuthorization(ctx) });
    else add(ctx, { step: page, outcome: "done" });
  };
  const entityOf = ({ oidc }: KoaContextWithOIDC, name: "AuthorizationCode" | "AccessToken") =>
    oidc.entities[name] as Issued | undefined;

  // The request's interaction changes when it asks the next question.
  provider.on("interaction.ended", (ctx) => {
    const prompt = ctx.oidc.entities.Interaction?.prompt.name;
    if (prompt !== undefined) answered.set(ctx, prompt);
  });
  provider.on("interaction.started", (ctx, { name }) => {
    addAnswered(ctx);
    add(ctx, { step: name, outcome: "waiting" });
  });
  provider.on("authorization.success", (ctx, answer?: unknown) => {
    addAnswered(ctx);
    const issued = entityOf(ctx, "AuthorizationCode");
    if (issued === undefined) return;
    // A code that the exchange does not find is known only by itself.
    const { code } = answer as { code: string };
    const attempt = [attemptOf(ctx), exchangeOf(issued), shorten(code)].join(">");
    add(ctx, { step: "code", outcome: "done", attempt });
  });
  provider.on("authorization.error", (ctx, refusal) => {
    const prompt = ctx.oidc.entities.Interaction?.prompt.name;
    if (prompt === undefined)
      add(ctx, { step: "authorize", outcome: "refused", refusal, readSent: readAuthorization(ctx) });
    else add(ctx, { step: prompt, outcome: "refused", refusal });
  });
  const exchanged = (ctx: KoaContextWithOIDC): string => {
    const code = entityOf(ctx, "AuthorizationCode");
    return code === undefined ? shorten(ctx.oidc.params?.["code"] ?? requestIdOf(ctx)) : exchangeOf(code);
  };
  provider.on("grant.success", (ctx) => {
    if (ctx.oidc.params?.["grant_type"] === "authorization_code")
      add(ctx, { step: "token", outcome: "done", attempt: exchanged(ctx), readSent: readTokenRequest(ctx) });
  });
  provider.on("grant.error", (ctx, refusal) =>
    add(ctx, { step: "token", outcome: "refused", attempt: exchanged(ctx), refusal, readSent: readTokenRequest(ctx) }),
  );
  provider.use(async (ctx, next) => {
    await next();
    const { oidc } = ctx as Partial<KoaContextWithOIDC>;
    if (oidc?.route !== "userinfo" || ctx.status !== 200) return;
    const token = entityOf(ctx as KoaContextWithOIDC, "AccessToken");
    if (token !== undefined)
      add(ctx as KoaContextWithOIDC, { step: "userinfo", outcome: "done", attempt: exchangeOf(token) });
  });
}
