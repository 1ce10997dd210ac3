import type { SourceFile } from "../read/source.ts";
import { readTable } from "../read/table.ts";
import type { ImportMode, ReadContext } from "./format.ts";

type Files = ReadonlyMap<string, SourceFile>;

/** `absent` are files that the sender left out on purpose. */
export type Manifest = { mode: ImportMode; absent: ReadonlySet<string>; isThere: boolean };

const ours = ["orgs.csv", "users.csv", "roles.csv", "classes.csv", "enrollments.csv"];

/** The caller's mode, by default bulk, applies if the manifest has none. */
export async function readManifest(files: Files, { staging, onBytes, mode }: ReadContext): Promise<Manifest> {
  const file = files.get("manifest.csv");
  const modes = new Set<ImportMode>();
  const absent = new Set<string>();
  if (file === undefined) return { mode: mode ?? "BULK", absent, isThere: false };
  await readTable({ file, onBytes, required: ["propertyName", "value"] }, staging, (row) => {
    const name = `${row.get("propertyName").replace(/^file\./, "")}.csv`;
    const value = row.get("value").toLowerCase();
    if (row.get("propertyName") === "oneroster.version" && !/^1\.[12](\.\d+)?$/.test(value)) {
      row.fault("value", "unknown_version", "The version is neither 1.1 nor 1.2.");
    }
    if (!row.get("propertyName").startsWith("file.") || !ours.includes(name)) return;
    if (value === "absent") absent.add(name);
    else if (value !== "bulk" && value !== "delta")
      row.fault("value", "unknown_mode", "The value is not absent, bulk or delta.");
    else if (!files.has(name)) row.fault("propertyName", "file_missing", `The archive holds no ${name}.`);
    // Imports do not change schools, so the mode of orgs.csv does not matter.
    else if (name !== "orgs.csv") modes.add(value === "delta" ? "DELTA" : "BULK");
    if (modes.size > 1) row.fault("value", "mixed_modes", "An archive cannot mix bulk and delta files.");
  });
  const [first] = modes;
  return { mode: first ?? mode ?? "BULK", absent, isThere: true };
}

/**
 * Everybody who is missing in a whole roster leaves, so it needs its people. Of a file that is neither in the archive
 * nor called absent, nobody knows whether the export was cut off.
 */
export function checkFiles(files: Files, { mode, absent }: Manifest, { staging }: ReadContext): void {
  const isIn = (name: string) => files.has(name) && !absent.has(name);
  const needed = mode === "BULK" ? ["users.csv", "classes.csv", "enrollments.csv"] : [];
  const missing = needed.filter((name) => !files.has(name) && !absent.has(name));
  if (mode === "BULK" ? absent.has("users.csv") : !ours.some(isIn)) missing.push("users.csv");
  for (const file of missing)
    staging.fault(
      { file, line: 1, column: null, field: null },
      "file_missing",
      file === "users.csv"
        ? "The archive holds no users.csv, or its manifest calls it absent."
        : `The archive holds no ${file}, and its manifest does not call it absent.`,
    );
}
