import { decodeProtectedHeader } from "jose";
import { errors, type KoaContextWithOIDC, Provider } from "oidc-provider";
import type { App } from "../../../access/index.ts";
import { countedAddress } from "../../../accounts/index.ts";
import { hashId, type Key } from "../storage/artifact.ts";
import type { OperationId } from "../contract.ts";
import { listScopes } from "../scope-problem.ts";
import { noteTokenFault } from "../token-fault.ts";
import { once, questions } from "../storage/request-memory.ts";
import { presentClient } from "./client.ts";
import type { ProviderDeps } from "./deps.ts";
import { setParameters } from "./library.ts";
import { checkParameters } from "./parameters.ts";
import { getRequest } from "../storage/request.ts";

const operationOf: Record<string, OperationId> = {
  token: "issueToken",
  introspection: "introspectToken",
  revocation: "revokeToken",
};

const clientIdShape = /^[A-Za-z0-9_-]{1,64}$/;

/** Finds an app for the library, at the token endpoint together with the presented code or refresh token. */
export function makeFindClient({ store, clock, platform, contract, findClientKeys, readAddress }: ProviderDeps) {
  return async (clientId: string) => {
    const { ctx } = Provider;
    // The first thing that the library calls after reading a form.
    const { oidc } = (ctx ?? {}) as Partial<KoaContextWithOIDC>;
    const operation = operationOf[oidc?.route ?? ""];
    if (operation) checkParameters(contract.checkRequest[operation], oidc?.body ?? {});
    if (operation === "issueToken") dropIgnoredScopes(ctx as KoaContextWithOIDC);
    if (!clientIdShape.test(clientId)) return undefined;
    const app = await (ctx
      ? once(getRequest().memory, questions.app(clientId), () => findAppWithToken(ctx, clientId))
      : store.findApp(clientId));
    if (!app) return undefined;
    if (app.suspendedAt !== null && (operation === "issueToken" || operation === "introspectToken")) {
      noteTokenFault(ctx as KoaContextWithOIDC, "app_suspended");
      throw new errors.UnauthorizedClient("the app is suspended");
    }
    const { keys, areMissing } = await findClientKeys(app, ctx && operation ? readAssertion(ctx) : null);
    if (areMissing) noteTokenFault(ctx as KoaContextWithOIDC, "client_keys_unreadable");
    return presentClient(app, { platform, now: clock(), keys });
  };

  function readAssertion({ req, oidc }: KoaContextWithOIDC) {
    const assertion = oidc.body?.["client_assertion"];
    if (typeof assertion !== "string") return null;
    try {
      return { kid: decodeProtectedHeader(assertion).kid, address: countedAddress(readAddress(req)) };
    } catch {
      return null;
    }
  }

  // The library asks for the presented code or refresh token next.
  async function findAppWithToken(ctx: KoaContextWithOIDC, clientId: string): Promise<App | null> {
    const presented = readToken(ctx);
    if (!presented) return store.findApp(clientId);
    const { memory } = getRequest();
    const { app } = await once(memory, questions.token(presented), () => store.findToken({ ...presented, clientId }));
    return app;
  }
}

function dropIgnoredScopes(ctx: KoaContextWithOIDC): void {
  const scope = ctx.oidc.params?.["scope"];
  if (typeof scope === "string") setParameters(ctx, { scope: listScopes(scope).join(" ") || undefined });
}

function readToken({ oidc }: KoaContextWithOIDC): Key | null {
  if (oidc.route !== "token") return null;
  const { grant_type: grantType, code, refresh_token: refreshToken } = (oidc.body ?? {}) as Record<string, unknown>;
  if (grantType === "authorization_code" && typeof code === "string")
    return { kind: "AuthorizationCode", idHash: hashId(code) };
  if (grantType === "refresh_token" && typeof refreshToken === "string")
    return { kind: "RefreshToken", idHash: hashId(refreshToken) };
  return null;
}

export function readClientId(ctx: KoaContextWithOIDC): string | null {
  const clientId = ctx.oidc.route === "authorization" ? ctx.query["client_id"] : undefined;
  return typeof clientId === "string" && clientIdShape.test(clientId) ? clientId : null;
}
