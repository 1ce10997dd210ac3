import type { Subject, SubjectClaims } from "../../../access/index.ts";
import type { Every } from "../../../platform/contract-types.ts";
import type { PersonClaims } from "../contract.ts";

export type ClaimsForApp = SubjectClaims & { pseudonym: string };

/** Missing values are null, so that an app can tell them from what it did not request. */
export function presentClaims({ name, role, school, groups, pseudonym }: ClaimsForApp): Every<PersonClaims> {
  return {
    name: name && `${name.firstCall} ${name.last}`,
    given_name: name?.firstFull ?? null,
    call_name: name?.firstCall ?? null,
    family_name: name?.last ?? null,
    role,
    school: school?.id ?? null,
    school_name: school?.name ?? null,
    school_official_id: school?.officialId ?? null,
    school_location: school?.location ?? null,
    school_address: school?.address ?? null,
    schooling_level: school?.schoolingLevel ?? null,
    groups,
    pseudonym,
  };
}

type Scopes = Pick<Subject, "withheld"> & {
  given: readonly string[];
  allowed: readonly string[];
  claimsByScope: Record<string, string[]>;
};

/** Claims that no scope gives but withheld ones, or ones that the person has not allowed, are null. */
export function withoutWithheld(claims: Every<PersonClaims>, { given, allowed, withheld, claimsByScope }: Scopes) {
  const isWithheld = (scope: string) =>
    (withheld as readonly string[] | null)?.includes(scope) === true || !allowed.includes(scope);
  const kept = new Set(given.filter((scope) => !isWithheld(scope)).flatMap((scope) => claimsByScope[scope] ?? []));
  const lost = given.filter(isWithheld).flatMap((scope) => claimsByScope[scope] ?? []);
  return { ...claims, ...Object.fromEntries(lost.filter((name) => !kept.has(name)).map((name) => [name, null])) };
}
