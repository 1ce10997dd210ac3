import { existsSync } from "node:fs";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { acceptedDifferences } from "./accepted-differences.ts";
import { makeBreak, type Break } from "./breaks.ts";
import { compareDocuments } from "./compare-documents.ts";
import type { Side } from "./comparison.ts";
import { allDocumentNames, bundleFolder, readDocument, releasedFolders } from "./document.ts";

/** Who answers the paths of a contract of ours: webhooks are answered by apps. */
export const sideOf = (name: string): Side => (name === "webhooks" ? "app" : "service");

/** A break as it is printed: where, what, who breaks, what to do instead. */
const printed = ({ kind, where, says, breaks, instead }: Break): string =>
  `${kind}: ${where}: ${says}\n    ${breaks}\n    Instead: ${instead}`;

/** Holds the bundles against the released ones; prints what breaks and returns how much it is. */
export const checkReleases = (released = releasedFolders, bundles = bundleFolder): number =>
  released.reduce((breaks, folder) => breaks + checkRelease(folder, bundles), 0);

function checkRelease(released: string, bundles: string): number {
  const names = existsSync(released) ? allDocumentNames(released) : [];
  if (names.length === 0) {
    console.error(`Nothing has been released in ${released}: npm run release:contract`);
    return 1;
  }
  let breaks = 0;
  for (const name of names) {
    const bundle = join(bundles, `${name}.yaml`);
    const found = existsSync(bundle)
      ? compareDocuments(readDocument(join(released, `${name}.yaml`)), readDocument(bundle), { side: sideOf(name) })
      : [makeBreak("document-removed", name, "the whole document is gone")];
    const breaking = found.filter(({ kind, where }) => !acceptedDifferences[name]?.includes(`${kind}: ${where}`));
    for (const one of breaking) console.error(`${name}: ${printed(one)}`);
    breaks += breaking.length;
  }
  return breaks;
}

const usage = `npm run lint:breaking                                        holds the contract against its last release
npm run lint:breaking -- [options] OLD NEW                   compares two bundles, as YAML or JSON

  --webhooks      the paths are answered by apps: the service sends the requests
  --format json   {"breaks": [{"kind", "where", "says", "breaks", "instead"}]} on stdout

Ends with 0 without a break, 1 with breaks, 2 when a file cannot be compared.`;

/** Compares two files of anybody's. Shape: the exit code; see `usage`. */
export function compareFiles(args: string[], print: (text: string) => void = console.log): number {
  try {
    const options = {
      webhooks: { type: "boolean", default: false },
      format: { type: "string", default: "text" },
    } as const;
    const { values, positionals } = parseArgs({ args, options, allowPositionals: true });
    const [old, now, ...more] = positionals;
    if (!old || !now || more.length > 0 || !["text", "json"].includes(values.format)) throw new Error(usage);
    const [before, after] = [old, now].map((path) => readDocument(path));
    const breaks = compareDocuments(before!, after!, { side: values.webhooks ? "app" : "service" });
    if (values.format === "json") print(JSON.stringify({ breaks }, null, 2));
    else print(breaks.length === 0 ? "No client breaks." : breaks.map(printed).join("\n"));
    return breaks.length === 0 ? 0 : 1;
  } catch (error) {
    console.error(error instanceof Error ? error.message : error);
    return 2;
  }
}

if (import.meta.main) {
  const args = process.argv.slice(2);
  if (args.length > 0) process.exitCode = compareFiles(args);
  else {
    const breaks = checkReleases();
    if (breaks === 0) console.log("No released client breaks.");
    process.exitCode = breaks === 0 ? 0 : 1;
  }
}
