/** What the contract writes where the operator's addresses belong. */
const writtenAddress = "http://localhost:3000";

/** When the sign-on without PKCE is deprecated, and after when it may be refused. */
export type EndOfFlow = { deprecatedAt: Date; sunsetAt: Date };

/** The dates that the guides write, which are those of a service that sets none. */
const writtenEnd: EndOfFlow = {
  deprecatedAt: new Date("2026-12-01T00:00:00Z"),
  sunsetAt: new Date("2028-08-01T00:00:00Z"),
};

const day = new Intl.DateTimeFormat("en-GB", { dateStyle: "long", timeZone: "UTC" });
/** How guides and headers write a moment. */
const waysToWrite = [
  (moment: Date) => day.format(moment),
  (moment: Date) => moment.toUTCString(),
  (moment: Date) => `@${moment.getTime() / 1000}`,
];

/** Puts the operator's dates into a guide. */
export function fillDates(text: string, end: EndOfFlow): string {
  return (["deprecatedAt", "sunsetAt"] as const).reduce(
    (filled, name) =>
      waysToWrite.reduce((given, write) => given.replaceAll(write(writtenEnd[name]), () => write(end[name])), filled),
    text,
  );
}

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
