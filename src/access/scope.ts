import { scopeNames } from "./token.ts";
import type { ScopeName } from "./token.ts";

const prefix = (platform: string): string => `urn:${platform}:idm:v1:`;
const isOfIdm = (scope: string): boolean => scope.endsWith(":read");
const isScopeName = (text: string): text is ScopeName => (scopeNames as readonly string[]).includes(text);

/** `schools:read` → `urn:<platform>:idm:v1:schools:read`; `openid` stays `openid`. */
export function scopeToWire(platform: string, scope: ScopeName): string {
  return isOfIdm(scope) ? prefix(platform) + scope : scope;
}

/** Null for whatever no app can be granted here, the bare record form of an IDM scope included. */
export function scopeFromWire(platform: string, wire: string): ScopeName | null {
  if (!wire.startsWith(prefix(platform))) return isScopeName(wire) && !isOfIdm(wire) ? wire : null;
  const scope = wire.slice(prefix(platform).length);
  return isScopeName(scope) && isOfIdm(scope) ? scope : null;
}

/** The scope that a contract names, whatever the operator is called there. */
export function scopeOfContract(wire: string): ScopeName {
  const scope = wire.replace(/^urn:[^:]+:idm:v1:/, "");
  if (!isScopeName(scope)) throw new Error(`The contract names a scope that no app can be granted: ${wire}`);
  return scope;
}
