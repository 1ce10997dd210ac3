import { hasPassword, hasSecondFactor, isUpstream } from "../../../accounts/index.ts";

const waysToSignIn = ["card", "upstream", "password", "mfa"] as const;

type Way = (typeof waysToSignIn)[number];

const acrOf = (platform: string, way: Way): string => `urn:${platform}:acr:${way}`;

export const acrValues = (platform: string): string[] => waysToSignIn.map((way) => acrOf(platform, way));

/** The `acr` of a sign-in. The library's own says whether the device is shared. */
export function presentAcr(platform: string, amr: readonly string[] | undefined): string {
  if (hasSecondFactor(amr)) return acrOf(platform, "mfa");
  if (isUpstream(amr)) return acrOf(platform, "upstream");
  return acrOf(platform, hasPassword(amr) ? "password" : "card");
}

/** The `amr` of an ID token: the RFC has no value for how another login identified the person, so none is told. */
export const presentAmr = (amr: readonly string[] | undefined): readonly string[] | undefined =>
  isUpstream(amr) ? undefined : amr;
