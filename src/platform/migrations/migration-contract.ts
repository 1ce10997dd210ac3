import packageFile from "../../../package.json" with { type: "json" };

// Releases run side by side while one follows the other, so a migration may add at any time, but take away only what no
// running release uses. One that takes away says so in its text:
//
//   -- contract since 0.2.0: webhook_delivery.next_attempt_at is neither read nor written since then

const header = /^-- contract since (\d+\.\d+\.\d+): \S.*$/m;
const recorded = /^contract since (\d+\.\d+\.\d+)$/;
const expands = "expand";

/** The oldest release that works beside a migration; null where every one does. */
export const readContract = (migrationText: string): string | null => header.exec(migrationText)?.[1] ?? null;

/** What a database notes of a migration, for releases that do not have its file. */
export const noteContract = (since: string | null): string => (since === null ? expands : `contract since ${since}`);

/**
 * Whether a release works with a migration that it does not know, by the note of it; null for a migration without a
 * note, which was not applied by a release that writes them.
 */
export function worksWith(note: string | null, release: string = packageFile.version): boolean | null {
  if (note === expands) return true;
  const since = recorded.exec(note ?? "")?.[1];
  return since === undefined ? null : compareReleases(release, since) >= 0;
}

/** Negative where `one` is older than `other`. */
export function compareReleases(one: string, other: string): number {
  const [left, right] = [one, other].map((release) => release.split(".").map(Number));
  return left!.map((part, i) => part - (right![i] ?? 0)).find((difference) => difference !== 0) ?? 0;
}
