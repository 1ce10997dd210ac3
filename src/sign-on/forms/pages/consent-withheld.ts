import type { AppAttribute, ScopeName } from "../../../access/index.ts";
import type { Translate } from "../../../platform/pages/index.ts";

type Withheld = readonly AppAttribute[];

const variants: { readonly [Scope in ScopeName]?: readonly [AppAttribute, string][] } = {
  "people:read": [
    ["PERSON_NAME", "Name"],
    ["SCHOOL_ADDRESS", "Town"],
  ],
  "schools:read": [["SCHOOL_ADDRESS", "Address"]],
};

/** What an app may do by a scope, in words, without what it was not granted. */
export function describeScope(scope: ScopeName, withheld: Withheld, t: Translate): string {
  const left = (variants[scope] ?? []).filter(([attribute]) => withheld.includes(attribute)).map(([, part]) => part);
  return t(`consent.scope.${scope}.long${left.length > 0 ? `Without${left.join("")}` : ""}`);
}
