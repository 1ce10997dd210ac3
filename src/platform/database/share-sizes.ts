/**
 * What connections are used for: `checks`: tokens of API calls, health. `signOn`: authorization, pages, sessions.
 * `tokens`: the token endpoint. `reads`: IDM API, Schulconnex. `changes`: writes that apps are told of. `imports`:
 * rosters (their progress goes through `jobs`). `jobs`: all other jobs, webhooks. `firstSignIns`: waits for changes of
 * the same school; two of them would stop all staff if they used `changes` (2 of 22 connections).
 */
export type ShareName = "checks" | "signOn" | "tokens" | "firstSignIns" | "reads" | "changes" | "imports" | "jobs";
export type Role = "all" | "web" | "worker";

// Below this a share does not work: webhooks listen on one connection of the jobs; of the others one stays free for
// single records (reads) and short changes. Imports need one for reading, one for applying, one for small rosters and
// one for previews.
const least: Record<ShareName, number> = {
  checks: 1,
  signOn: 1,
  tokens: 1,
  firstSignIns: 1,
  reads: 3,
  changes: 2,
  imports: 4,
  jobs: 2,
};

export const shareNames = Object.keys(least) as ShareName[];

export const leastPoolSize = Object.values(least).reduce((sum, size) => sum + size, 0);

// Connections beyond the minimum are given out in these proportions.
const weights: Record<Role, Record<ShareName, number>> = {
  all: { checks: 2, signOn: 4, tokens: 3, firstSignIns: 2, reads: 5, changes: 1, imports: 2, jobs: 3 },
  web: { checks: 2, signOn: 5, tokens: 4, firstSignIns: 2, reads: 6, changes: 1, imports: 2, jobs: 0 },
  worker: { checks: 0, signOn: 0, tokens: 0, firstSignIns: 0, reads: 0, changes: 2, imports: 0, jobs: 10 },
};

/** `importsAtOnce`: so many rosters are to be read at once, if the other shares keep their least. */
export function splitConnections(total: number, role: Role, importsAtOnce = 1): Record<ShareName, number> {
  if (total < leastPoolSize) throw new Error(`A process needs at least ${leastPoolSize} database connections.`);
  const spare = total - leastPoolSize;
  // A worker handles no imports.
  const imports = role === "worker" ? 1 : least.imports + Math.min(importsAtOnce - 1, spare);
  const sizes = { ...least, imports };
  const used = leastPoolSize - least.imports + imports;
  const fill = (name: ShareName) => sizes[name] / weights[role][name];
  for (let shared = used; shared < total; shared++) {
    const emptiest = shareNames.reduce((one, other) => (fill(other) < fill(one) ? other : one));
    sizes[emptiest] += 1;
  }
  return sizes;
}
