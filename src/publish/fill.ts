const writtenAddress = "http://localhost:3000";

export type EndOfFlow = { deprecatedAt: Date; sunsetAt: Date };

/** The dates in the guides, which apply if the operator sets none. */
const writtenEnd: EndOfFlow = {
  deprecatedAt: new Date("2026-12-01T00:00:00Z"),
  sunsetAt: new Date("2028-08-01T00:00:00Z"),
};

const day = new Intl.DateTimeFormat("en-GB", { dateStyle: "long", timeZone: "UTC" });
/** The two spellings of a date in guides and headers. */
const waysToWrite = [
  (moment: Date) => day.format(moment),
  (moment: Date) => moment.toUTCString(),
  (moment: Date) => `@${moment.getTime() / 1000}`,
];

export function fillDates(text: string, end: EndOfFlow): string {
  return (["deprecatedAt", "sunsetAt"] as const).reduce(
    (filled, name) =>
      waysToWrite.reduce((text, write) => text.replaceAll(write(writtenEnd[name]), () => write(end[name])), filled),
    text,
  );
}

export function fillPlatform(text: string, platform: string): string {
  return text.replaceAll("<platform>", () => platform);
}

/** Fills in the operator's addresses: `serverUrl` serves these operations, `issuerUrl` the sign-on and documents. */
export function fillAddresses(text: string, { serverUrl, issuerUrl }: { serverUrl: string; issuerUrl: string }) {
  return text
    .replaceAll(`- url: ${writtenAddress}\n`, () => `- url: ${serverUrl}\n`)
    .replaceAll(`"url": "${writtenAddress}"`, () => `"url": "${serverUrl}"`)
    .replaceAll(`${writtenAddress}/idm/`, () => `${serverUrl}/idm/`)
    .replaceAll(writtenAddress, () => issuerUrl)
    .replaceAll(encodeURIComponent(writtenAddress), () => encodeURIComponent(issuerUrl));
}
