import type { AppAttribute, ScopeName, WithheldItem } from "../../access/index.ts";

/** Scopes that give an app nothing without an attribute. */
const attributeOf: { readonly [Scope in ScopeName]?: AppAttribute } = {
  profile: "PERSON_NAME",
  school_address: "SCHOOL_ADDRESS",
  school_location: "SCHOOL_LOCATION",
  school_official_id: "SCHOOL_OFFICIAL_ID",
  schooling_level: "SCHOOLING_LEVEL",
};

/** A scope lacks its attribute: the app gets nothing by it. */
export function lacksAttribute(scope: ScopeName, lacks: (attribute: AppAttribute) => boolean): boolean {
  const attribute = attributeOf[scope];
  return attribute !== undefined && lacks(attribute);
}

type Given = { attributes: readonly AppAttribute[]; withheld: readonly WithheldItem[] | null };

/** A scope by which the app gets nothing of this person now, so that no page asks for it and no answer covers it. */
export const isWithoutEffect = (scope: ScopeName, { attributes, withheld }: Given): boolean =>
  withheld?.includes(scope) === true ||
  lacksAttribute(scope, (name) => !attributes.includes(name) || withheld?.includes(name) === true);
