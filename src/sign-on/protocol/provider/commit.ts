import { errors, type KoaContextWithOIDC } from "oidc-provider";
import type { ClientId } from "../../../access/index.ts";
import type { PersonId } from "../../../directory/index.ts";
import { recordAudit } from "../../../events/index.ts";
import { seal, unseal, hmac } from "../../../platform/crypto/seal.ts";
import { type Bucket, takeTokens } from "../../../platform/database/token-bucket.ts";
import { deleteGrant, findArtifact, type FoundArtifact } from "../storage/artifact.ts";
import { committed, findOnlyPut, toTokenUse, toWrite } from "../storage/request.ts";
import type { Changing, Committed, Consuming, FoundToken, UnitOfWork, ProviderRequest } from "../storage/request.ts";
import { type Outcome, writeArtifacts, openInteraction } from "../storage/write.ts";
import { noteTokenFault } from "../diagnosis.ts";
import { requestIdOf } from "./account.ts";
import { type AnswerApp, refuseToken } from "./answers.ts";
import type { ProviderDeps, ShowPages } from "../deps.ts";
import { keepHintedSchool, keepTypedHint } from "../login-hint.ts";
import { bucketsOfAddress } from "../../../accounts/index.ts";

type Replay = { scope: string; answeredAt: number; body: { expires_in: number } };

type CommitDeps = ProviderDeps & { answerApp: AnswerApp; pages: Pick<ShowPages, "showAnswered"> };

export async function commit(deps: CommitDeps, ctx: KoaContextWithOIDC, work: UnitOfWork): Promise<Committed> {
  if (work.state === "consuming") await commitUse(deps, ctx, work);
  else if (work.state === "changing") {
    const returned = findReturnedBuckets(deps, ctx, work);
    const outcome = await writeChange(deps, work, returned);
    if (outcome === "ended") answerEndedSession(deps, ctx);
    else if (outcome === "gone" && ctx.oidc.route === "resume") deps.pages.showAnswered(ctx);
  }
  return committed;
}

async function commitUse(deps: ProviderDeps, ctx: KoaContextWithOIDC, work: Consuming): Promise<void> {
  const use = toTokenUse(work, makeReplay(deps, ctx, work.token));
  if (!(await deps.store.useToken(use))) return answerUsedToken(deps, ctx, work.token);
  const { accountId } = ctx.oidc.account ?? {};
  if (accountId !== undefined)
    await deps.limitTokens({ clientId: ctx.oidc.client?.clientId as ClientId, personId: accountId as PersonId });
}

/** A GET is repeated without the session; for a posted page the app gets an error. */
function answerEndedSession({ answerApp }: CommitDeps, ctx: KoaContextWithOIDC): void {
  if (ctx.oidc.route !== "resume") {
    if (ctx.method !== "GET") return;
    ctx.redirect(ctx.href);
    if (ctx.oidc.route === "end_session") ctx.status = 303;
    return;
  }
  const { redirect_uri: redirectUri, state } = (ctx.oidc.params ?? {}) as Record<string, string | undefined>;
  answerApp(ctx, String(redirectUri), {
    error: "login_required",
    error_description: "the session ended while the user answered",
    ...(state !== undefined && { state }),
    iss: ctx.oidc.provider.issuer,
  });
}

async function writeChange({ db, store }: ProviderDeps, work: Changing, returned: readonly Bucket[]): Promise<Outcome> {
  const artifact = findOnlyPut(work);
  if (artifact === null) return writeArtifacts(db.pool, toWrite(work, returned));
  await store.put(artifact);
  return "written";
}

async function answerUsedToken(deps: ProviderDeps, ctx: KoaContextWithOIDC, token: FoundToken): Promise<void> {
  const artifact = await findArtifact(deps.db.pool, token);
  const replay = openReplay(deps, ctx, { token, artifact });
  if (replay) {
    const passed = Math.max(0, Math.floor((deps.clock().getTime() - replay.answeredAt) / 1000));
    ctx.body = { ...replay.body, expires_in: replay.body.expires_in - passed };
    return;
  }
  // A token that is gone was not used: the session ended, or the person was deleted for good.
  if (artifact) await recordReuse(deps, ctx, token);
  const usedFault = token.kind === "RefreshToken" ? "refresh_token_used" : "code_used";
  noteTokenFault(ctx, artifact ? usedFault : "sign_on_ended");
  ctx.oidc.provider.emit(
    "grant.error",
    ctx,
    new errors.InvalidGrant(`${token.kind} was ${artifact ? "used" : "deleted"} by another request`),
  );
  refuseToken(ctx, "invalid_grant");
}

async function recordReuse(deps: ProviderDeps, ctx: KoaContextWithOIDC, { grantId, kind }: FoundToken): Promise<void> {
  if (grantId) await deleteGrant(deps.db.pool, grantId);
  await recordAudit(deps.db, {
    at: deps.clock(),
    action: "token_reused",
    clientId: ctx.oidc.client?.clientId,
    personId: ctx.oidc.account?.accountId,
    requestId: requestIdOf(ctx),
    detail: { token: kind === "RefreshToken" ? "refresh_token" : "authorization_code" },
  });
}

const requestedScope = (ctx: KoaContextWithOIDC): string => [...ctx.oidc.requestParamScopes].sort().join(" ");
const purposeOf = (token: { idHash: Buffer }): string => `replay ${token.idHash.toString("hex")}`;

// The response is kept encrypted in the row of the token that was used.
function makeReplay({ secrets, clock }: ProviderDeps, ctx: KoaContextWithOIDC, token: FoundToken): Buffer | null {
  if (token.kind !== "RefreshToken" || ctx.status !== 200) return null;
  const replay = { scope: requestedScope(ctx), answeredAt: clock().getTime(), body: ctx.body };
  return seal([secrets.replay], purposeOf(token), Buffer.from(JSON.stringify(replay)));
}

type Used = { token: FoundToken; artifact: FoundArtifact | null };

function openReplay(deps: ProviderDeps, ctx: KoaContextWithOIDC, { token, artifact }: Used): Replay | null {
  const opened = artifact?.replay && unseal([deps.secrets.replay], purposeOf(token), artifact.replay);
  if (!opened) return null;
  const replay = JSON.parse(opened.toString()) as Replay;
  const isFresh = deps.clock().getTime() - replay.answeredAt <= deps.lifetimes.refreshGraceSeconds * 1000;
  return isFresh && replay.scope === requestedScope(ctx) ? replay : null;
}

export const interactionSeconds = 3600;

/** Enough for 2,000 people of a school who sign in at once, and some who never finish. */
const openAtOnce = {
  address: { capacity: 3000, refillSeconds: interactionSeconds },
  site: { capacity: 6000, refillSeconds: interactionSeconds },
};

/**
 * Counts a new interaction for its address until it ends or expires, and stores it if the request stores nothing else.
 * `wait` is when the address may open one more; null means now.
 */
export async function countInteraction(deps: ProviderDeps, ctx: KoaContextWithOIDC, work: UnitOfWork) {
  const { opens, ends } = readChange(work);
  if (work.state !== "changing" || !opens || ends) return { wait: null, isStored: false };
  const [buckets, now] = [bucketsOf(deps, ctx), deps.clock()];
  const interaction = findOnlyPut(work);
  return interaction === null
    ? { wait: await takeTokens(deps.db.pool, buckets, now), isStored: false }
    : { wait: await openInteraction(deps.db.pool, interaction, { buckets, now }), isStored: true };
}

function findReturnedBuckets(deps: ProviderDeps, ctx: KoaContextWithOIDC, work: UnitOfWork): Bucket[] {
  const { opens, ends } = readChange(work);
  return ends && !opens ? bucketsOf(deps, ctx) : [];
}

export function keepHintOfInteraction(
  { secrets }: ProviderDeps,
  ctx: KoaContextWithOIDC,
  { typedHint, hintedSchoolId: schoolId, work }: ProviderRequest,
): void {
  if ((typedHint === "" && schoolId === null) || !readChange(work).opens) return;
  const path = new URL(ctx.response.get("Location"), ctx.oidc.issuer).pathname;
  if (typedHint !== "") keepTypedHint(ctx.cookies, { typed: typedHint, path });
  if (schoolId !== null) keepHintedSchool(ctx.cookies, { key: secrets.lastSignIn, schoolId, path });
}

function readChange(work: UnitOfWork): { opens: boolean; ends: boolean } {
  if (work.state !== "changing") return { opens: false, ends: false };
  const { puts, removals } = work;
  const isInteraction = ({ kind }: { kind: string }) => kind === "Interaction";
  return { opens: [...puts.values()].some(isInteraction), ends: [...removals.values()].some(isInteraction) };
}

function bucketsOf({ secrets, readAddress }: ProviderDeps, ctx: KoaContextWithOIDC): Bucket[] {
  const keyOf = (_kind: string, part: string) =>
    hmac(secrets.signInTraces).update("open interactions\0").update(part).digest();
  return bucketsOfAddress(readAddress(ctx.req), openAtOnce, keyOf);
}
