/*
 * traffic: counts and short logs of requests to the service. Its public API.
 *
 * Nouns:      figure (a count per hour or day of an app, a school or the service), job run (when a job last ran),
 *             attempt (one sign-on to an app with its steps), API request (a call of an app).
 * Invariants: nothing is written while a request is answered: each process counts in memory and writes in batches, and
 *             loses what it has not written when it is killed; no person is named.
 * Never knows: what an app may see, who may read a figure, what a contract describes.
 */
export { makeTraffic, type Traffic } from "./traffic.ts";
export { deleteFiguresOf, findFigures, writeCounts } from "./figures.ts";
export type { Counted, FigureStep, Metric, Subject } from "./figures.ts";
export { listApiRequests, listSignOnAttempts, type SignOnAttempt } from "./read-logs.ts";
export type { ApiRequest, SignOnStep } from "./logs.ts";
export { findBackupAge, listJobRuns, recordBackup, type JobRun } from "./job-runs.ts";
