import { scopeFromWire } from "../../access/index.ts";

/** `scope` as the library has it, and the platform names that the app may write into scopes. */
type Client = { scope?: string | undefined; scopePlatforms: readonly string[] };

/** Why the app may not request the scope; null if it may. */
export function findScopeProblem(
  { scope: granted = "", scopePlatforms }: Client,
  requested: string,
): "scope_unknown" | "scope_platform" | "scope_not_given" | null {
  const name = scopeFromWire(requested);
  if (name === null) return "scope_unknown";
  if (scopeFromWire(requested, scopePlatforms) === null) return "scope_platform";
  return granted.split(" ").some((scope) => scopeFromWire(scope) === name) ? null : "scope_not_given";
}
