import { hasPassword, hasSecondFactor } from "../../../accounts/index.ts";

const waysToSignIn = ["card", "password", "mfa"] as const;

export const acrValues = (platform: string): string[] => waysToSignIn.map((way) => `urn:${platform}:acr:${way}`);

/** The `acr` of a sign-in. The library's own says whether the device is shared. */
export function presentAcr(platform: string, amr: readonly string[] | undefined): string {
  const [card, password, mfa] = acrValues(platform) as [string, string, string];
  if (hasSecondFactor(amr)) return mfa;
  return hasPassword(amr) ? password : card;
}
