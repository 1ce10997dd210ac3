import type { ScopeName, SubjectClaims, AppAttribute } from "../../../access/index.ts";
import type { ClaimsForApp } from "../../protocol/provider/account.ts";
import type { Translate } from "../../../platform/pages/index.ts";
import { schoolTexts } from "../../../directory/index.ts";

type School = NonNullable<SubjectClaims["school"]>;

/** Says what the app gets of this person by a scope; null for a scope without personal data. */
export function describeValues(scope: ScopeName, claims: ClaimsForApp, t: Translate): string | null {
  if (scope === "profile") return describeName(claims, t);
  if (scope === "role") return t(`consent.role.${claims.role}`);
  if (scope === "person-info")
    return [describeName(claims, t), t(`consent.role.${claims.role}`), claims.school?.officialId]
      .filter(Boolean)
      .join(", ");
  if (scope === "pseudonym") return claims.pseudonym;
  if (scope === "groups")
    return claims.groups.length > 0 ? claims.groups.map(({ name }) => name).join(", ") : t("consent.noGroups");
  const describe = ofSchool[scope];
  if (describe === undefined) return null;
  return claims.school ? describe(claims.school, t) : t("consent.school.none");
}

const ofSchool: { [Scope in ScopeName]?: (school: School, t: Translate) => string | null } = {
  school: describeSchool,
  school_name: ({ name }) => name,
  school_official_id: ({ officialId }) => officialId,
  school_location: describeLocation,
  school_address: ({ address }) =>
    address &&
    [address.address, address.addressAddition, `${address.zipCode} ${address.city}`].filter(Boolean).join(", "),
  schooling_level: ({ schoolingLevel }, t) =>
    schoolingLevel === null ? t("consent.school.noLevel") : spell("level", schoolingLevel, t),
};

function describeName({ name }: SubjectClaims, t: Translate): string {
  if (name === null) return t("consent.name.none");
  const { firstFull, firstCall, last } = name;
  const whole = `${firstFull} ${last}`;
  return firstCall === firstFull ? whole : t("consent.name.called", { name: whole, callName: firstCall });
}

function describeSchool(school: School, t: Translate): string {
  const { name, officialId, schoolingLevel } = school;
  const level = schoolingLevel !== null && spell("level", schoolingLevel, t);
  const number = officialId !== null && t("consent.school.number", { officialId });
  return [name, number, level, describeLocation(school, t)].filter(Boolean).join(", ");
}

function describeLocation({ location }: School, t: Translate): string | null {
  if (location === null) return null;
  const { country, state } = location;
  return country === "DE" ? spell("state", state, t) : `${country}-${state}`;
}

const spell = (kind: "level" | "state", code: string, t: Translate): string =>
  Object.hasOwn(schoolTexts.de[kind], code) ? t(`consent.school.${kind}.${code}`) : code;

const variants: { readonly [Scope in ScopeName]?: readonly [AppAttribute, string][] } = {
  "people:read": [
    ["PERSON_NAME", "Name"],
    ["SCHOOL_ADDRESS", "Town"],
  ],
  "schools:read": [["SCHOOL_ADDRESS", "Address"]],
};

/** What an app may do by a scope, in words, without what it was not granted. */
export function describeScope(scope: ScopeName, withheld: readonly AppAttribute[], t: Translate): string {
  const left = (variants[scope] ?? []).filter(([attribute]) => withheld.includes(attribute)).map(([, part]) => part);
  return t(`consent.long.${scope}${left.length > 0 ? `Without${left.join("")}` : ""}`);
}
