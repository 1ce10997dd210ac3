import { AppError } from "../platform/errors.ts";
import { scopeNames, type ScopeName } from "./token.ts";

/** `schools:read` → `urn:<platform>:idm:v1:schools:read`; `openid` stays `openid`. */
export function scopeToWire(platform: string, scope: ScopeName): string {
  if (!scope.includes(":")) return scope;
  return scope.startsWith("admin:")
    ? `urn:${platform}:admin:v1:${scope.slice("admin:".length)}`
    : `urn:${platform}:idm:v1:${scope}`;
}

const platformName = /^urn:([^:]+):/;
const scopesOnWire = new Map(scopeNames.map((scope) => [scopeToWire("*", scope), scope]));

/** Null for an unknown scope, or one with another platform name than `platforms`; without these, any is accepted. */
export function scopeFromWire(wire: string, platforms?: readonly string[]): ScopeName | null {
  const platform = platformName.exec(wire)?.[1];
  if (platforms && platform !== undefined && !platforms.includes(platform)) return null;
  return scopesOnWire.get(wire.replace(platformName, "urn:*:")) ?? null;
}

export function scopeOfContract(wire: string): ScopeName {
  const scope = scopeFromWire(wire);
  if (scope === null) throw new Error(`The contract names a scope that no app can be granted: ${wire}`);
  return scope;
}

/** Checks the second platform name of an app. Errors: invalid scope_platform_refused. */
export function checkScopePlatform(name: string | null | undefined, { platform }: { platform: string }): void {
  const refuse = (message: string) => new AppError("invalid", "scope_platform_refused", message);
  if (name === null || name === undefined) return;
  if (!/^[a-z0-9][a-z0-9-]{0,31}$/.test(name))
    throw refuse("A platform name has up to 32 lower-case letters, digits and hyphens, and no hyphen at the start.");
  if (name === platform)
    throw refuse(`${name} is the platform name of this service, which every app may write into scopes.`);
}
