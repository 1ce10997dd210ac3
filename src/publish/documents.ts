import { createHash } from "node:crypto";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { setImmediate } from "node:timers/promises";
import { parse } from "yaml";
import { fillAddresses, fillPlatform } from "./fill.ts";

export type PublishedDocument = {
  name: string;
  title: string;
  label: string;
  description: string;
  version: string;
  isVariant: boolean;
  isForStaff: boolean;
  yaml: string;
  json: string;
};

type ReleasedDocument = { name: string; yaml: string; sha256: string };
export type PublishedRelease = { version: string; date: string; documents: ReleasedDocument[] };

export type Addresses = { platform: string; baseUrl: string; issuerUrl: string };

const releasesFolder = join(import.meta.dirname, "..", "..", "openapi", "released");
const bundles = join(import.meta.dirname, "..", "..", "generated", "openapi");

/** Listed after the contracts of partners. Its releases are in a separate folder that partners do not see. */
const forStaff = "admin";

const labelOf = (title: string) => title.replace(/^Schultor /, "");

type ContractReference = Pick<PublishedDocument, "name" | "label" | "isVariant">;

let references: readonly ContractReference[] | undefined;

/** The name of each contract and what its page is called; read once per process. */
export const listReferences = (): readonly ContractReference[] => (references ??= readReferences());

function readReferences(): ContractReference[] {
  const names = listNames(bundles);
  return names.map((name) => {
    const [, title = name] = /^ {2}title: (.*)$/m.exec(readFileSync(join(bundles, `${name}.yaml`), "utf8")) ?? [];
    return { name, label: labelOf(title), isVariant: isVariantOf(name, names) };
  });
}

const isVariantOf = (name: string, names: readonly string[]): boolean =>
  names.some((other) => name.startsWith(`${other}-`));

/** Read in several turns of the event loop, as releases are. */
export async function loadPublishedDocuments(place: Addresses): Promise<PublishedDocument[]> {
  const names = listNames(bundles);
  const documents: PublishedDocument[] = [];
  for (const name of names) {
    await setImmediate();
    const written = readFilled(bundles, `${name}.yaml`, place);
    await setImmediate();
    const parsed = JSON.parse(readFilled(bundles, `${name}.json`, place)) as {
      info: { title: string; description: string; version: string };
    };
    await setImmediate();
    const version = nameVersion(name, parsed.info.version);
    const yaml = written.replace(/^ {2}version: .*$/m, `  version: ${version}`);
    parsed.info.version = version;
    const { title, description } = parsed.info;
    documents.push({
      name,
      title,
      label: labelOf(title),
      description,
      version,
      isForStaff: name === forStaff,
      isVariant: isVariantOf(name, names),
      yaml,
      json: JSON.stringify(parsed),
    });
  }
  return documents;
}

/** A document that differs from the release of its version is on the way to the next one. */
function nameVersion(name: string, version: string): string {
  const released = join(releasesFolder, name === forStaff ? forStaff : "", version, `${name}.yaml`);
  const read = (file: string) => readFileSync(file, "utf8");
  const isReleased = existsSync(released) && read(released) === read(join(bundles, `${name}.yaml`));
  return isReleased ? version : `${version}+next`;
}

/** Read in several turns of the event loop: to fill and hash the documents takes long. */
export async function loadPublishedReleases(place: Addresses): Promise<PublishedRelease[]> {
  const releases: PublishedRelease[] = [];
  for (const { version, date } of readChangelog().releases) {
    await setImmediate();
    const folder = join(releasesFolder, version);
    const documents = listNames(folder).map((name) => {
      const yaml = readFilled(folder, `${name}.yaml`, place);
      return { name, yaml, sha256: createHash("sha256").update(yaml).digest("hex") };
    });
    releases.push({ version, date, documents });
  }
  return releases;
}

function listNames(folder: string): string[] {
  return readdirSync(folder)
    .flatMap((file) => (file.endsWith(".yaml") ? [file.slice(0, -".yaml".length)] : []))
    .sort((a, b) => Number(a === forStaff) - Number(b === forStaff) || (a < b ? -1 : 1));
}

function readFilled(folder: string, file: string, { platform, baseUrl, issuerUrl }: Addresses): string {
  const written = readFileSync(join(folder, file), "utf8");
  const serverUrl = file.startsWith("sign-on.") ? issuerUrl : baseUrl;
  return fillPlatform(fillAddresses(written, { serverUrl, issuerUrl }), platform);
}

export type ChangelogEntry = {
  contracts: string[];
  kind: "added" | "changed" | "clarified" | "deprecated" | "removed";
  parts: string[];
  what: string;
  who: string;
  action: string;
  until?: string;
  more?: string;
};
export type ChangelogRelease = { version: string; date: string; entries: ChangelogEntry[] };
export type Changelog = { next: ChangelogEntry[]; releases: ChangelogRelease[] };

/** `npm run lint:changelog` checks its form. */
export function readChangelog(): Changelog {
  return parse(readFileSync(join(releasesFolder, "changelog.yaml"), "utf8")) as Changelog;
}
