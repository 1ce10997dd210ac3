import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { parse } from "yaml";
import { z } from "zod";
import type { Changelog } from "../../src/publish/index.ts";
import { listChangedParts } from "./changed-parts.ts";
import { allDocumentNames, bundleFolder, readDocument, releasedFolders, releasesFolder } from "./document.ts";

export const changelogFile = join(releasesFolder, "changelog.yaml");

const date = z.string().regex(/^\d{4}-\d{2}-\d{2}$/, "a date is written as 2026-11-21");
const entry = z.strictObject({
  contracts: z.array(z.string()).min(1),
  kind: z.enum(["added", "changed", "clarified", "deprecated", "removed"]),
  parts: z.array(z.string()),
  what: z.string().min(1),
  who: z.string().min(1),
  action: z.string().min(1),
  until: date.optional(),
  more: z.string().startsWith("/docs/").optional(),
});
const changelog = z.strictObject({
  next: z.array(entry),
  releases: z.array(z.strictObject({ version: z.string(), date, entries: z.array(entry).min(1) })).min(1),
});

/** Reads the changelog. Errors: throws with what is wrong in it. */
export function readChangelog(text = readFileSync(changelogFile, "utf8")): Changelog {
  const { data, error } = changelog.safeParse(parse(text));
  if (error) throw new Error(`changelog.yaml: ${z.prettifyError(error)}`);
  return data as Changelog;
}

/** Names of the parts in which each contract differs from its last release. */
export type ChangedParts = Record<string, string[]>;

export function findChangedParts(released = releasedFolders, bundles = bundleFolder): ChangedParts {
  return Object.fromEntries(
    allDocumentNames(bundles).map((name) => {
      const after = readDocument(join(bundles, `${name}.yaml`));
      const old = released.map((folder) => join(folder, `${name}.yaml`)).find((file) => existsSync(file));
      const before = old === undefined ? { info: after.info, paths: {}, components: {} } : readDocument(old);
      return [name, listChangedParts(before, after)];
    }),
  );
}

/** What is wrong with `next`: parts that differ and that no entry names, and parts that entries name for nothing. */
export function checkChangelog({ next }: Changelog, changed: ChangedParts): string[] {
  const missing = Object.entries(changed).flatMap(([name, parts]) => {
    const told = new Set(next.filter(({ contracts }) => contracts.includes(name)).flatMap(({ parts }) => parts));
    const untold = parts.filter((part) => !told.has(part));
    return untold.length === 0
      ? []
      : [
          `${name} differs from its last release; add to \`next\` an entry with contracts: [${name}], parts: [${untold.join(", ")}]`,
        ];
  });
  const idle = next.flatMap(({ contracts, parts, what }) => {
    const unknown = contracts.filter((name) => changed[name] === undefined);
    const same = parts.filter((part) => !contracts.some((name) => changed[name]?.includes(part)));
    return [
      ...unknown.map((name) => `"${what}" names ${name}, which is no contract`),
      ...same.map((part) => `"${what}" names ${part}, which is as it was released`),
    ];
  });
  return [...missing, ...idle];
}

if (import.meta.main) {
  const faults = checkChangelog(readChangelog(), findChangedParts());
  for (const fault of faults) console.error(`openapi/released/changelog.yaml: ${fault}`);
  if (faults.length === 0) console.log("The changelog names every part that differs from the last release.");
  process.exitCode = faults.length === 0 ? 0 : 1;
}
