import type { ScopeName, SubjectClaims } from "../../access/index.ts";
import type { Translate } from "../../platform/pages/index.ts";
import german from "./locales/de.json" with { type: "json" };

type School = NonNullable<SubjectClaims["school"]>;

/** What the app gets of this person by a scope, in words; null for a scope that carries nothing of them. */
export function describeValues(scope: ScopeName, claims: SubjectClaims, t: Translate): string | null {
  if (scope === "profile") return describeName(claims, t);
  if (scope === "school") return claims.school ? describeSchool(claims.school, t) : t("consent.school.none");
  if (scope === "role") return t(`consent.role.${claims.role}`);
  if (scope !== "groups") return null;
  return claims.groups.length > 0 ? claims.groups.map(({ name }) => name).join(", ") : t("consent.groups.none");
}

function describeName({ name }: SubjectClaims, t: Translate): string {
  if (name === null) return t("consent.name.none");
  const { firstFull, firstCall, last } = name;
  const whole = `${firstFull} ${last}`;
  return firstCall === firstFull ? whole : t("consent.name.called", { name: whole, callName: firstCall });
}

function describeSchool({ name, officialId, schoolingLevel, location }: School, t: Translate): string {
  const level = schoolingLevel !== null && spell("level", schoolingLevel, t);
  const state = location.country === "DE" ? spell("state", location.state, t) : `${location.country}-${location.state}`;
  return [name, t("consent.school.number", { officialId }), level, state].filter(Boolean).join(", ");
}

const spell = (kind: "level" | "state", code: string, t: Translate): string =>
  Object.hasOwn(german.consent.school[kind], code) ? t(`consent.school.${kind}.${code}`) : code;
