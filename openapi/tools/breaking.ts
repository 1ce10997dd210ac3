import { existsSync } from "node:fs";
import { join } from "node:path";
import { acceptedDifferences } from "./accepted-differences.ts";
import { compareDocuments } from "./compare-documents.ts";
import { bundleFolder, documentNames, readDocument, releasedFolder } from "./document.ts";

/** Holds the bundles against the released ones; prints what breaks and returns how much it is. */
export function checkReleases(released = releasedFolder, bundles = bundleFolder): number {
  const names = existsSync(released) ? documentNames(released) : [];
  if (names.length === 0) {
    console.error(`Nothing has been released in ${released}: npm run release:contract`);
    return 1;
  }
  let breaks = 0;
  for (const name of names) {
    const bundle = join(bundles, `${name}.yaml`);
    const found = existsSync(bundle)
      ? compareDocuments(readDocument(join(released, `${name}.yaml`)), readDocument(bundle))
      : [{ kind: "document-removed", where: name, says: "the whole document is gone" }];
    const breaking = found.filter(({ kind, where }) => !acceptedDifferences[name]?.includes(`${kind}: ${where}`));
    for (const { kind, where, says } of breaking) console.error(`${name}: ${kind}: ${where}: ${says}`);
    breaks += breaking.length;
  }
  return breaks;
}

if (import.meta.main) {
  const breaks = checkReleases();
  if (breaks === 0) console.log("No released client breaks.");
  process.exitCode = breaks === 0 ? 0 : 1;
}
