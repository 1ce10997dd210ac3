import type { KoaContextWithOIDC } from "oidc-provider";
import { type ClientId, findPersonByAppId } from "../../../access/index.ts";
import type { PersonId } from "../../../directory/index.ts";
import { findHintedPerson, hashHintedPerson, readableHint } from "../login-hint.ts";
import type { ProviderDeps } from "../deps.ts";
import { readIdTokenHint, setParameters } from "./library.ts";
import { getRequest } from "../storage/request.ts";

/** The hinted person as a keyed hash; `sure`: only this service can have made the hint. */
type Hinted = { sure: boolean; hash: string };

const nobody = "nobody";

/** Replaces `login_hint` and `id_token_hint` by `hinted`, which is stored and says nothing about the person. */
export async function readHints(deps: ProviderDeps, ctx: KoaContextWithOIDC): Promise<void> {
  const { login_hint: hint } = ctx.oidc.params as Record<string, string | undefined>;
  const idToken = readIdTokenHint(ctx);
  const hinted: Hinted[] = [];
  if (idToken) hinted.push(await readSubjectHint(deps, ctx, idToken.sub));
  if (hint !== undefined) hinted.push(await readLoginHint(deps, ctx, hint));
  const written = hinted.map(({ sure, hash }) => `${sure ? "sure" : "perhaps"}:${hash}`).join(" ");
  setParameters(ctx, { hinted: written || undefined, login_hint: undefined, id_token_hint: undefined });
}

async function readSubjectHint(
  { db, secrets }: ProviderDeps,
  ctx: KoaContextWithOIDC,
  sub: string | undefined,
): Promise<Hinted> {
  const clientId = ctx.oidc.client?.clientId as ClientId;
  const personId = sub === undefined ? null : await findPersonByAppId(db.pool, { clientId, id: sub });
  return { sure: true, hash: hashHintedPerson(secrets.loginHint, personId ?? nobody) };
}

async function readLoginHint({ db, secrets }: ProviderDeps, ctx: KoaContextWithOIDC, hint: string): Promise<Hinted> {
  const asked = { hint, clientId: ctx.oidc.client?.clientId as ClientId };
  const { personId, sure, schoolId } = await findHintedPerson(db.pool, secrets.loginHint, asked);
  if (sure) getRequest().hintedSchoolId = schoolId;
  getRequest().typedHint = readableHint(secrets.loginHint, asked);
  return { sure, hash: hashHintedPerson(secrets.loginHint, personId ?? nobody) };
}

function parseHinted(params: Record<string, unknown> | undefined): Hinted[] {
  const hinted = params?.["hinted"];
  if (typeof hinted !== "string") return [];
  return hinted
    .split(" ")
    .map((entry) => ({ sure: entry.startsWith("sure:"), hash: entry.slice(entry.indexOf(":") + 1) }));
}

const isHinted = (ctx: KoaContextWithOIDC): boolean => parseHinted(ctx.oidc.params).length > 0;

/** Whether the person may continue as somebody else, because the app may have guessed the hints. */
export const mayOverrule = (params: Record<string, unknown>): boolean => parseHinted(params).every(({ sure }) => !sure);

/** Whether to ask the person to switch. Unknown hints count like other people's, so that nobody learns who exists. */
export function asksForAnother({ secrets }: ProviderDeps, ctx: KoaContextWithOIDC, personId: PersonId): boolean {
  const hinted = parseHinted(ctx.oidc.params);
  if (hinted.length === 0) return false;
  const own = hashHintedPerson(secrets.loginHint, personId);
  const others = hinted.filter(({ hash }) => hash !== own);
  const { hint } = (ctx.oidc.result ?? {}) as { hint?: { answered?: boolean } };
  return others.some(({ sure }) => sure || hint?.answered !== true);
}

const silentFailures = new Set(["login_required", "consent_required", "interaction_required", "access_denied"]);

/** Whether the app may not learn why a silent request with a hint failed: who is signed in, and who exists. */
export const hidesReason = (ctx: KoaContextWithOIDC, error: string): boolean =>
  isHinted(ctx) && ctx.oidc.prompts.has("none") && silentFailures.has(error);
