import type { EncryptionKeys } from "../../platform/crypto/seal.ts";
import { openSecrets } from "../secret.ts";
import type { Target } from "./attempt.ts";
import type { Due } from "./due.ts";
import type { LeasedEndpoint } from "./lease.ts";
import type { Result } from "./record.ts";

export type EndpointWorker = Target &
  Omit<LeasedEndpoint, "url" | "secrets" | "isResumable"> & {
    ready: Due[];
    known: Set<string>;
    running: number;
    isDry: boolean;
    isOpen: boolean;
    isHealthChanged: boolean;
    isGone: boolean;
    /** A subject that had not failed before did, since the state was last chosen. */
    hasNewFailed: boolean;
  };

const mostAtOnce = 8;

export const failuresBeforePause = 20;

/** Concurrent deliveries to an endpoint: fewer after failures, so that others are not slowed down. */
export const capOf = ({ failures }: Pick<EndpointWorker, "failures">): number =>
  Math.max(1, mostAtOnce >> Math.min(failures, 3));

export const capacityOf = (worker: EndpointWorker): number =>
  (worker.failures > 0 ? capOf(worker) : 4 * mostAtOnce) - worker.known.size;

/**
 * An endpoint that fails is asked for its newest and its oldest in turn: one of them may be of the subjects that it
 * accepts, while many that it refuses are due.
 */
export const asksNewest = ({ failures }: Pick<EndpointWorker, "failures">): boolean =>
  failures > 3 && failures % 2 === 0;

export function openWorker(endpoint: LeasedEndpoint, keys: EncryptionKeys): EndpointWorker {
  const worker = {
    id: endpoint.id,
    clientId: endpoint.clientId,
    ready: [],
    known: new Set<string>(),
    running: 0,
    isDry: false,
    isHealthChanged: false,
    isGone: false,
    hasNewFailed: false,
  };
  return refresh(worker, endpoint, keys);
}

type Configured = Target & Pick<EndpointWorker, "state" | "isOpen" | "failures" | "failingSince">;

export function refresh(
  worker: Omit<EndpointWorker, keyof Configured> & Partial<Configured>,
  endpoint: LeasedEndpoint,
  keys: EncryptionKeys,
): EndpointWorker {
  const isOpen = endpoint.state === "ACTIVE" || (endpoint.state === "PAUSED" && endpoint.isResumable);
  const health = worker.isHealthChanged ? {} : { failures: endpoint.failures, failingSince: endpoint.failingSince };
  const secrets = openSecrets(keys, endpoint.secrets);
  const configured = { url: new URL(endpoint.url), secrets, state: endpoint.state, isOpen };
  return Object.assign(worker, configured, health) as EndpointWorker;
}

/**
 * Counts a result. A 410 at the last try means that the endpoint is gone. During a pause, a subject that failed before
 * says nothing about others.
 */
export function classify(worker: EndpointWorker, { state, status, at }: Result, subjectFails: boolean): void {
  if (state === "DELIVERED") {
    if (worker.failures === 0) return;
    Object.assign(worker, { failures: 0, failingSince: null });
  } else {
    if (!subjectFails) worker.hasNewFailed = true;
    if (!subjectFails || worker.failures < failuresBeforePause) worker.failures++;
    worker.failingSince ??= at;
    if (state === "FAILED" && status === 410) worker.isGone = true;
  }
  worker.isHealthChanged = true;
}

export function dropReady(worker: EndpointWorker): void {
  for (const { id } of worker.ready.splice(0)) worker.known.delete(id);
}
