/** What is known against versions of packages (deploy/advisories.json), held against a lock file without a network. */
import { createRequire } from "node:module";

/** Shape: `range` as semver writes it. `source` is where the advisory can be read. */
export type Advisory = {
  id: string;
  package: string;
  range: string;
  severity: "low" | "moderate" | "high" | "critical";
  title: string;
  source: string;
};
export type AdvisoryList = {
  /** The day on which somebody last looked for new ones. */
  checkedOn: string;
  advisories: Advisory[];
  /** Those that hit what is installed and do no harm here, each with the reason. */
  accepted: { id: string; package: string; reason: string }[];
};

type Locked = { name?: string; version?: string; link?: boolean };
export type LockFile = { packages: Record<string, Locked> };

// It has no types of its own.
const { satisfies, validRange } = createRequire(import.meta.url)("semver") as {
  satisfies(version: string, range: string, options: { includePrerelease: boolean }): boolean;
  validRange(range: string): string | null;
};

export const isRange = (range: string): boolean => range.trim() !== "" && validRange(range) !== null;

/** Every installed version that an advisory names and nobody accepted, as `package@version id severity: title`. */
export function findHits({ packages }: LockFile, { advisories, accepted }: AdvisoryList): string[] {
  const installed = Object.entries(packages)
    .filter(([path, { link, version }]) => path.includes("node_modules/") && link !== true && version !== undefined)
    .map(([path, { name, version }]) => ({ name: name ?? path.split("node_modules/").at(-1)!, version: version! }));
  const isAccepted = ({ id, package: name }: Advisory) =>
    accepted.some((one) => one.id === id && one.package === name && one.reason !== "");
  const hits = advisories
    .filter((advisory) => !isAccepted(advisory))
    .flatMap((advisory) =>
      installed
        .filter(({ name, version }) => name === advisory.package && isHit(version, advisory))
        .map(({ name, version }) => `${name}@${version} ${advisory.id} ${advisory.severity}: ${advisory.title}`),
    );
  return [...new Set(hits)].toSorted();
}

const isHit = (version: string, { range }: Advisory) => satisfies(version, range, { includePrerelease: true });
