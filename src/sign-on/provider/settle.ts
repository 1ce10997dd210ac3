import type { KoaContextWithOIDC } from "oidc-provider";
import type { ClientId } from "../../access/index.ts";
import type { PersonId } from "../../directory/index.ts";
import { recordAudit } from "../../events/index.ts";
import { seal, unseal } from "../../platform/seal.ts";
import { deleteGrant, findArtifact } from "../storage/artifact.ts";
import { type RequestWork, toTokenUse, toWrite } from "../storage/request-work.ts";
import { type Write, writeArtifacts } from "../storage/write.ts";
import { requestIdOf } from "./account.ts";
import { refuseToken } from "./answers.ts";
import type { ProviderDeps } from "./deps.ts";

type Replay = { scope: string; answeredAt: number; body: { expires_in: number } };

/** Writes what the request wants written; where another request was faster, changes the answer. */
export async function settle(deps: ProviderDeps, ctx: KoaContextWithOIDC, work: RequestWork): Promise<void> {
  const { consumption } = work;
  if (consumption) {
    const use = toTokenUse(work, consumption, makeReplay(deps, ctx, consumption));
    if (!(await deps.store.useToken(use))) return answerUsedToken(deps, ctx, consumption);
    const { accountId } = ctx.oidc.account ?? {};
    if (accountId !== undefined)
      await deps.limitTokens({ clientId: ctx.oidc.client?.clientId as ClientId, personId: accountId as PersonId });
    return;
  }
  if (!(await writeAll(deps, toWrite(work)))) await answerEndedSession(deps, ctx, work);
}

/**
 * Answers where the session has ended while the request ran: nothing was written, so a code in the answer could not be exchanged.
 *
 * Shape: what was asked by address is asked again, without the session; an answer to our pages cannot be, and the app is told.
 */
async function answerEndedSession(
  { db }: ProviderDeps,
  ctx: KoaContextWithOIDC,
  { removals }: RequestWork,
): Promise<void> {
  if (ctx.oidc.route !== "resume") {
    if (ctx.method !== "GET") return;
    ctx.redirect(ctx.href);
    if (ctx.oidc.route === "end_session") ctx.status = 303;
    return;
  }
  await writeArtifacts(db.pool, { puts: [], removals: [...removals.values()] });
  const { redirect_uri: redirectUri, state } = (ctx.oidc.params ?? {}) as Record<string, string | undefined>;
  const target = new URL(String(redirectUri));
  const error = {
    error: "login_required",
    error_description: "the session ended while the user answered",
    state,
    iss: ctx.oidc.provider.issuer,
  };
  for (const [name, value] of Object.entries(error)) if (value !== undefined) target.searchParams.set(name, value);
  ctx.redirect(target.href);
}

async function writeAll({ db, store }: ProviderDeps, write: Write): Promise<boolean> {
  const { sessionChange, puts, removals = [], endedSession, facts = [] } = write;
  const [put] = puts;
  const isAlone =
    put && puts.length === 1 && !sessionChange && removals.length === 0 && !endedSession && facts.length === 0;
  if (!isAlone) return writeArtifacts(db.pool, write);
  await store.put(put);
  return true;
}

type Consumption = NonNullable<RequestWork["consumption"]>;

async function answerUsedToken(deps: ProviderDeps, ctx: KoaContextWithOIDC, consumption: Consumption): Promise<void> {
  const replay = await findReplay(deps, ctx, consumption);
  if (replay) {
    const passed = Math.max(0, Math.floor((deps.clock().getTime() - replay.answeredAt) / 1000));
    ctx.body = { ...replay.body, expires_in: replay.body.expires_in - passed };
    return;
  }
  const { grantId, kind } = consumption;
  if (grantId) await deleteGrant(deps.db.pool, grantId);
  await recordAudit(deps.db.pool, {
    at: deps.clock(),
    action: "token_reused",
    clientId: ctx.oidc.client?.clientId,
    personId: ctx.oidc.account?.accountId,
    requestId: requestIdOf(ctx),
    detail: { token: kind === "RefreshToken" ? "refresh_token" : "authorization_code" },
  });
  refuseToken(ctx, "invalid_grant", "grant request is invalid");
}

const requestedScope = (ctx: KoaContextWithOIDC): string => [...ctx.oidc.requestParamScopes].sort().join(" ");
const purposeOf = (consumption: { idHash: Buffer }): string => `replay ${consumption.idHash.toString("hex")}`;

// The answer is kept encrypted in the row of the token that it was given for.
function makeReplay(
  { secrets, clock }: ProviderDeps,
  ctx: KoaContextWithOIDC,
  consumption: Consumption,
): Buffer | null {
  if (consumption.kind !== "RefreshToken" || ctx.status !== 200) return null;
  const replay = { scope: requestedScope(ctx), answeredAt: clock().getTime(), body: ctx.body };
  return seal([secrets.replay], purposeOf(consumption), Buffer.from(JSON.stringify(replay)));
}

async function findReplay(
  deps: ProviderDeps,
  ctx: KoaContextWithOIDC,
  consumption: Consumption,
): Promise<Replay | null> {
  if (consumption.kind !== "RefreshToken") return null;
  const found = await findArtifact(deps.db.pool, consumption);
  const opened = found?.replay && unseal([deps.secrets.replay], purposeOf(consumption), found.replay);
  if (!opened) return null;
  const replay = JSON.parse(opened.toString()) as Replay;
  const isFresh = deps.clock().getTime() - replay.answeredAt <= deps.lifetimes.refreshGraceSeconds * 1000;
  return isFresh && replay.scope === requestedScope(ctx) ? replay : null;
}
