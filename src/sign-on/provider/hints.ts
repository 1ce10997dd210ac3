import type { KoaContextWithOIDC } from "oidc-provider";
import type { ClientId } from "../../access/index.ts";
import type { PersonId } from "../../directory/index.ts";
import { findHintedPerson, hashHintedPerson, readableHint } from "../login-hint.ts";
import type { ProviderDeps } from "./deps.ts";

/** Whom an authorization request names: a keyed hash of the person; `sure` where only we can have made the hint. */
type Hinted = { sure: boolean; hash: string };

const nobody = "nobody";

/**
 * Turns `login_hint` and `id_token_hint` into what the rest of the sign-on needs: whether somebody is the hinted person.
 *
 * Shape: the parameters go; `hinted` takes their place in what is stored, and tells nothing of the person.
 */
export async function readHints(deps: ProviderDeps, ctx: KoaContextWithOIDC): Promise<void> {
  const params = ctx.oidc.params as Record<string, string | undefined>;
  const { login_hint: hint } = params;
  const idToken = ctx.oidc.entities.IdTokenHint as { payload: { sub?: string } } | undefined;
  const hinted: Hinted[] = [];
  if (idToken)
    hinted.push({ sure: true, hash: hashHintedPerson(deps.secrets.loginHint, idToken.payload.sub ?? nobody) });
  if (hint !== undefined) hinted.push(await readLoginHint(deps, ctx, hint));
  params["hinted"] =
    hinted.length === 0 ? undefined : hinted.map(({ sure, hash }) => `${sure ? "sure" : "perhaps"}:${hash}`).join(" ");
  params["login_hint"] = undefined;
  params["id_token_hint"] = undefined;
}

async function readLoginHint(
  { db, secrets, workOf }: ProviderDeps,
  ctx: KoaContextWithOIDC,
  hint: string,
): Promise<Hinted> {
  const asked = { hint, clientId: ctx.oidc.client?.clientId as ClientId };
  const { personId, sure } = await findHintedPerson(db.pool, secrets.loginHint, asked);
  workOf(ctx).typedHint = readableHint(secrets.loginHint, asked);
  return { sure, hash: hashHintedPerson(secrets.loginHint, personId ?? nobody) };
}

function parseHinted(params: Record<string, unknown> | undefined): Hinted[] {
  const hinted = params?.["hinted"];
  if (typeof hinted !== "string") return [];
  return hinted
    .split(" ")
    .map((entry) => ({ sure: entry.startsWith("sure:"), hash: entry.slice(entry.indexOf(":") + 1) }));
}

export const isHinted = (ctx: KoaContextWithOIDC): boolean => parseHinted(ctx.oidc.params).length > 0;

/** Whether the hints of a stored request leave it to the person to go on as somebody else: an app may have guessed. */
export const mayOverrule = (params: Record<string, unknown>): boolean => parseHinted(params).every(({ sure }) => !sure);

/**
 * Whether the person has to be asked to switch.
 *
 * Shape: a user name or id that is another's and one that is nobody's count the same, so that nobody learns which exist:
 *        each is settled once the person was asked and has answered.
 */
export function asksForAnother({ secrets }: ProviderDeps, ctx: KoaContextWithOIDC, personId: PersonId): boolean {
  const own = hashHintedPerson(secrets.loginHint, personId);
  const others = parseHinted(ctx.oidc.params).filter(({ hash }) => hash !== own);
  const { hint } = (ctx.oidc.result ?? {}) as { hint?: { answered?: boolean } };
  return others.some(({ sure }) => sure || hint?.answered !== true);
}

const silentFailures = new Set(["login_required", "consent_required", "interaction_required", "access_denied"]);

/** Gives one answer to every silent request with a hint that fails: another would tell who is signed in, or who exists. */
export function hideReason(ctx: KoaContextWithOIDC): void {
  const location = URL.parse(ctx.response.get("Location"));
  if (!location || !isHinted(ctx) || !ctx.oidc.prompts.has("none")) return;
  if (!silentFailures.has(location.searchParams.get("error") ?? "")) return;
  location.searchParams.set("error", "login_required");
  location.searchParams.set("error_description", "End-User authentication is required");
  ctx.set("Location", location.href);
}
