import { scopeFromWire, scopeNames, scopeToWire } from "../../access/index.ts";
import { nearestOf } from "../../platform/text/did-you-mean.ts";

/** `scope` as the library has it, and the platform names that the app may write into scopes. */
type Client = { scope?: string | undefined; scopePlatforms: readonly string[] };

/** Many clients request these by default. */
const ignoredScopes = new Set(["email", "phone", "address"]);

export const listScopes = (asked: string): string[] =>
  asked.split(" ").filter((scope) => scope !== "" && !ignoredScopes.has(scope));

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

/** Why the scope is refused, in words that OAuth lets a description have; null if the app may request it. */
export function explainScope(client: Client, requested: string): string | null {
  const problem = findScopeProblem(client, requested);
  if (problem === null) return null;
  if (problem === "scope_not_given") return `the app was not granted the scope ${requested}`;
  const unknown = `there is no scope ${requested}`;
  if (/[,;+|]|%20/.test(requested)) return `${unknown}: scopes are separated by spaces`;
  const meant = findMeant(client, requested);
  return meant === null ? unknown : `${unknown}: did you mean ${meant}?`;
}

const prefix = /^urn:([^:]*):/i;

/** The full name of the scope whose name, in full or in short, is nearest. */
function findMeant({ scopePlatforms }: Client, requested: string): string | null {
  const named = prefix.exec(requested)?.[1] ?? "";
  const platform = scopePlatforms.includes(named) ? named : (scopePlatforms[0] ?? "");
  const fullNames = new Map(
    scopeNames.flatMap((name) => {
      const full = scopeToWire(platform, name);
      return [name, full.replace(prefix, "")].map((spelling) => [spelling, full]);
    }),
  );
  const near = nearestOf(requested.replace(prefix, ""), [...fullNames.keys()]);
  return near === null ? null : fullNames.get(near)!;
}
