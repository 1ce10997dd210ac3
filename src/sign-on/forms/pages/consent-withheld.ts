import type { AppAttribute, ScopeName } from "../../../access/index.ts";
import type { Translate } from "../../../platform/pages/index.ts";

type Withheld = readonly AppAttribute[];

/** Scopes that give an app nothing without an attribute. */
const attributeOf: { readonly [Scope in ScopeName]?: AppAttribute } = {
  profile: "PERSON_NAME",
  school_address: "SCHOOL_ADDRESS",
  school_location: "SCHOOL_LOCATION",
  school_official_id: "SCHOOL_OFFICIAL_ID",
  schooling_level: "SCHOOLING_LEVEL",
};

/** Says of a scope that the app gets nothing by it; null for every other. */
export function describeWithheld(scope: ScopeName, withheld: Withheld, t: Translate): string | null {
  const attribute = attributeOf[scope];
  return attribute !== undefined && withheld.includes(attribute) ? t("consent.withheld.instead") : null;
}

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
