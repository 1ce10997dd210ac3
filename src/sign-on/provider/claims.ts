import type { SubjectClaims } from "../../access/index.ts";

/** The claims of each scope; those of `openid` stand in every ID token. */
export const claimsByScope = {
  openid: ["sub", "jti", "sid", "at_hash", "auth_time", "rat"],
  profile: ["given_name", "call_name", "family_name"],
  role: ["role"],
  school: ["school", "school_name", "school_official_id", "school_location", "schooling_level"],
  groups: ["groups"],
};

/** Whatever does not exist is null, so that an app can tell it from what it did not ask for. */
export function presentClaims({ name, role, school, groups }: SubjectClaims): Record<string, unknown> {
  return {
    given_name: name?.firstFull ?? null,
    call_name: name?.firstCall ?? null,
    family_name: name?.last ?? null,
    role,
    school: school?.id ?? null,
    school_name: school?.name ?? null,
    school_official_id: school?.officialId ?? null,
    school_location: school?.location ?? null,
    schooling_level: school?.schoolingLevel ?? null,
    groups,
  };
}
