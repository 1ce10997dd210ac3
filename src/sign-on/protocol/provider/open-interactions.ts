import type { KoaContextWithOIDC } from "oidc-provider";
import { type Bucket, takeTokens } from "../../../platform/database/token-bucket.ts";
import { keepHintedSchool, keepTypedHint } from "../typed-hint.ts";
import { bucketsOfAddress } from "../../../accounts/index.ts";
import type { ProviderRequest } from "../storage/request.ts";
import { openInteraction } from "../storage/open-interaction.ts";
import { findOnlyPut, type UnitOfWork } from "../storage/unit-of-work.ts";
import type { ProviderDeps } from "./deps.ts";
import { hmac } from "../../../platform/crypto/hmac.ts";

export const interactionSeconds = 3600;

/** Enough for 2,000 people of a school who sign in at once, and some who never finish. */
const openAtOnce = {
  address: { capacity: 3000, refillSeconds: interactionSeconds },
  site: { capacity: 6000, refillSeconds: interactionSeconds },
};

/**
 * Counts a new interaction for its address until it ends or expires, and stores it if the request stores nothing else.
 * `wait` is when the address may open one more, null if it may now.
 */
export async function countInteraction(
  deps: ProviderDeps,
  ctx: KoaContextWithOIDC,
  work: UnitOfWork,
): Promise<{ wait: Date | null; isStored: boolean }> {
  const { opens, ends } = readChange(work);
  if (work.state !== "changing" || !opens || ends) return { wait: null, isStored: false };
  const [buckets, now] = [bucketsOf(deps, ctx), deps.clock()];
  const interaction = findOnlyPut(work);
  return interaction === null
    ? { wait: await takeTokens(deps.db.pool, buckets, now), isStored: false }
    : { wait: await openInteraction(deps.db.pool, interaction, { buckets, now }), isStored: true };
}

export function findReturnedBuckets(deps: ProviderDeps, ctx: KoaContextWithOIDC, work: UnitOfWork): Bucket[] {
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
