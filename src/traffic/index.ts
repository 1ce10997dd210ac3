/*
 * traffic: what the service was asked and answered, in counts and in short logs. Its public API.
 *
 * Nouns:      figure (a count of an hour or a day, of an app, a school or all), job run (when a job last ran),
 *             attempt (one sign-on to an app with its steps), API request (a call of an app).
 * Invariants: nothing is written while a request is answered: each process counts in memory and writes together; what
 *             a process has not written when it is killed is lost; no person is named.
 * Never knows: what an app may see, who may read a figure, what a contract describes.
 */
export { forgetFigures, forgetFiguresOfSchool, makeTraffic } from "./traffic.ts";
export type { Traffic } from "./traffic.ts";
export { findFigures, metrics, steps } from "./figures.ts";
export type { FigurePoint, FigureStep, FiguresAsked, Metric, Subject } from "./figures.ts";
export { listApiRequests, listSignOnAttempts } from "./read-logs.ts";
export type { SignOnAttempt } from "./read-logs.ts";
export type { ApiRequest, SignOnStep } from "./logs.ts";
export { findBackupAge, listJobRuns, recordBackup } from "./job-runs.ts";
export type { JobRun } from "./job-runs.ts";
