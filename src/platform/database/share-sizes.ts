/**
 * What connections are used for.
 *
 * Shape:  `checks`: tokens that API calls present, health. `signOn`: authorization, pages, sessions.
 *         `tokens`: the token endpoint. `firstSignIns`: they wait for changes of the same school.
 *         `reads`: IDM API and Schulconnex. `changes`: what apps are told of. `imports`: rosters that are read,
 *         previewed and applied. `jobs`: all other jobs, webhooks.
 */
export type ShareName = "checks" | "signOn" | "tokens" | "firstSignIns" | "reads" | "changes" | "imports" | "jobs";
export type Role = "all" | "web" | "worker";

// A share with less does not work: webhooks keep one connection of the jobs to listen on, of the reads one is kept for
// single records, so that a second app reads a list while a first one does, of the changes one for what is short, and
// of the imports one for previews.
const least: Record<ShareName, number> = {
  checks: 1,
  signOn: 1,
  tokens: 1,
  firstSignIns: 1,
  reads: 3,
  changes: 2,
  imports: 2,
  jobs: 2,
};

/** What a process needs at least, whatever its role. */
export const leastPoolSize = Object.values(least).reduce((sum, size) => sum + size, 0);

// In the proportions of these numbers the connections beyond the least are given out.
const weights: Record<Role, Record<ShareName, number>> = {
  all: { checks: 2, signOn: 4, tokens: 3, firstSignIns: 2, reads: 5, changes: 1, imports: 2, jobs: 3 },
  web: { checks: 2, signOn: 5, tokens: 4, firstSignIns: 2, reads: 6, changes: 1, imports: 2, jobs: 0 },
  worker: { checks: 0, signOn: 0, tokens: 0, firstSignIns: 0, reads: 0, changes: 2, imports: 0, jobs: 10 },
};

/**
 * Splits the connections of a process; the sizes add up to `total`.
 *
 * Errors: throws below `leastPoolSize`, which configuration refuses before.
 */
export function splitConnections(total: number, role: Role): Record<ShareName, number> {
  if (total < leastPoolSize) throw new Error(`A process needs at least ${leastPoolSize} database connections.`);
  const sizes = { ...least };
  const names = Object.keys(sizes) as ShareName[];
  const fill = (name: ShareName) => sizes[name] / weights[role][name];
  for (let given = leastPoolSize; given < total; given++) {
    const emptiest = names.reduce((one, other) => (fill(other) < fill(one) ? other : one));
    sizes[emptiest] += 1;
  }
  return sizes;
}
