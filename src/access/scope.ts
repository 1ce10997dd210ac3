import { scopeNames, type ScopeName } from "./token.ts";

const isScopeName = (text: string): text is ScopeName => (scopeNames as readonly string[]).includes(text);

/** `schools:read` → `urn:<platform>:idm:v1:schools:read`; `openid` stays `openid`. */
export function scopeToWire(platform: string, scope: ScopeName): string {
  if (!scope.includes(":")) return scope;
  return scope.startsWith("admin:")
    ? `urn:${platform}:admin:v1:${scope.slice("admin:".length)}`
    : `urn:${platform}:idm:v1:${scope}`;
}

const known = new Map<string, ReadonlyMap<string, ScopeName>>();

export function scopeFromWire(platform: string, wire: string): ScopeName | null {
  let names = known.get(platform);
  names ??= new Map(scopeNames.map((scope) => [scopeToWire(platform, scope), scope]));
  known.set(platform, names);
  return names.get(wire) ?? null;
}

export function scopeOfContract(wire: string): ScopeName {
  const scope = wire.replace(/^urn:[^:]+:idm:v1:/, "").replace(/^urn:[^:]+:admin:v1:/, "admin:");
  if (!isScopeName(scope)) throw new Error(`The contract names a scope that no app can be granted: ${wire}`);
  return scope;
}
