import { scopeNames } from "./token.ts";
import type { ScopeName } from "./token.ts";

const isScopeName = (text: string): text is ScopeName => (scopeNames as readonly string[]).includes(text);

function apiOf(scope: string): { api: string; name: string } | null {
  if (!scope.includes(":")) return null;
  const [first = "", rest = ""] = scope.split(":");
  return first === "admin" ? { api: "admin", name: rest } : { api: "idm", name: scope };
}

/** `schools:read` → `urn:<platform>:idm:v1:schools:read`; `openid` stays `openid`. */
export function scopeToWire(platform: string, scope: ScopeName): string {
  const of = apiOf(scope);
  return of === null ? scope : `urn:${platform}:${of.api}:v1:${of.name}`;
}

const byWire = (platform: string) => new Map(scopeNames.map((scope) => [scopeToWire(platform, scope), scope]));
const known = new Map<string, ReadonlyMap<string, ScopeName>>();

export function scopeFromWire(platform: string, wire: string): ScopeName | null {
  let names = known.get(platform);
  if (names === undefined) known.set(platform, (names = byWire(platform)));
  return names.get(wire) ?? null;
}

export function scopeOfContract(wire: string): ScopeName {
  const scope = wire.replace(/^urn:[^:]+:idm:v1:/, "").replace(/^urn:[^:]+:admin:v1:/, "admin:");
  if (!isScopeName(scope)) throw new Error(`The contract names a scope that no app can be granted: ${wire}`);
  return scope;
}
