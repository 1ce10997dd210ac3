/** What the contract writes where the operator's addresses belong. */
const writtenAddress = "http://localhost:3000";

/** Puts the operator's name into the scope identifiers of a contract. */
export function fillPlatform(text: string, platform: string): string {
  return text.replaceAll("<platform>", () => platform);
}

/**
 * Puts the operator's addresses into a contract.
 *
 * Shape: `serverUrl` is where the operations of this contract are; the sign-on, these documents and the guide are at
 *        `issuerUrl`.
 */
export function fillAddresses(
  text: string,
  { serverUrl, issuerUrl }: { serverUrl: string; issuerUrl: string },
): string {
  return text
    .replaceAll(`- url: ${writtenAddress}\n`, () => `- url: ${serverUrl}\n`)
    .replaceAll(`${writtenAddress}/idm/`, () => `${serverUrl}/idm/`)
    .replaceAll(writtenAddress, () => issuerUrl)
    .replaceAll(encodeURIComponent(writtenAddress), () => encodeURIComponent(issuerUrl));
}
