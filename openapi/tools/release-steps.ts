import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { parseDocument, YAMLMap, type YAMLSeq } from "yaml";
import { allDocumentNames } from "./document.ts";

/** Why a version cannot follow the last one; null where it can. Major versions are new addresses, and made by hand. */
export function whyNotAfter(version: string, last: string | undefined): string | null {
  if (!/^\d+\.\d+\.\d+$/.test(version)) return "name the version, such as: npm run release:contract -- 1.2.0";
  if (last === undefined) return null;
  const [now, before] = [version, last].map((text) => text.split(".").map(Number));
  if (now![0] !== before![0]) return `${version} is another major version than ${last}, which needs new addresses.`;
  const [minor, patch] = [now![1]! - before![1]!, now![2]! - before![2]!];
  return minor > 0 || (minor === 0 && patch > 0) ? null : `${version} does not come after ${last}.`;
}

/** Puts the version into the head of a contract. */
export const setVersion = (text: string, version: string): string =>
  text.replace(/^( {2}version: ).*$/m, (_line, key: string) => `${key}${version}`);

/** The checksums of the contracts in a folder, as `sha256sum --check` reads them. */
export const listSums = (folder: string): string =>
  allDocumentNames(folder)
    .map((name) => {
      const sum = createHash("sha256").update(readFileSync(join(folder, `${name}.yaml`)));
      return `${sum.digest("hex")}  ${name}.yaml\n`;
    })
    .join("");

/** Moves the entries of `next` to a release of their own, the newest one. */
export function moveNext(text: string, { version, date }: { version: string; date: string }): string {
  const document = parseDocument(text);
  const release = new YAMLMap();
  release.set("version", version);
  release.set("date", date);
  release.set("entries", document.get("next"));
  (document.get("releases") as YAMLSeq).items.unshift(release);
  document.set("next", document.createNode([]));
  return document.toString({ lineWidth: 120, flowCollectionPadding: false });
}
