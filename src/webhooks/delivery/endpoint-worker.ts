import type { EncryptionKeys } from "../../platform/crypto/seal.ts";
import { openSecret } from "../secret.ts";
import type { Target } from "./attempt.ts";
import type { Due } from "./due.ts";
import type { LeasedEndpoint } from "./lease.ts";
import type { Result } from "./record.ts";

/** The deliveries that one process has under way for an endpoint whose lease it holds. */
export type EndpointWorker = Target & {
  id: string;
  clientId: string;
  state: LeasedEndpoint["state"];
  /** Fetched, not yet started. */
  ready: Due[];
  /** The ids of what is fetched and not yet recorded. */
  known: Set<string>;
  running: number;
  /** The last fetch found fewer than it asked for. */
  isDry: boolean;
  isOpen: boolean;
  failures: number;
  failingSince: Date | null;
  isHealthChanged: boolean;
  isGone: boolean;
};

const mostAtOnce = 8;

/**
 * How many deliveries an endpoint gets at once: the more it fails, the fewer, so that it takes nothing from the others.
 */
export const capOf = ({ failures }: Pick<EndpointWorker, "failures">): number =>
  Math.max(1, mostAtOnce >> Math.min(failures, 3));

/** How many deliveries may still be fetched ahead. */
export const capacityOf = (worker: EndpointWorker): number =>
  (worker.failures > 0 ? capOf(worker) : 4 * mostAtOnce) - worker.known.size;

/** Makes the worker of an endpoint whose lease was taken. */
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
  };
  return refresh(worker, endpoint, keys);
}

type Kept = Omit<EndpointWorker, keyof Fresh>;
type Fresh = Target & Pick<EndpointWorker, "state" | "isOpen" | "failures" | "failingSince">;

/** Takes over what may have been changed meanwhile: address, secrets, state. */
export function refresh(worker: Kept & Partial<Fresh>, endpoint: LeasedEndpoint, keys: EncryptionKeys): EndpointWorker {
  const isOpen = endpoint.state === "ACTIVE" || (endpoint.state === "PAUSED" && endpoint.isResumable);
  const health = worker.isHealthChanged ? {} : { failures: endpoint.failures, failingSince: endpoint.failingSince };
  // Without a secret that opens, the attempts of this endpoint fail and say so; those of others go on.
  const secrets = endpoint.secrets.map((sealed) => openSecret(keys, sealed)).filter((secret) => secret !== null);
  const fresh = { url: new URL(endpoint.url), secrets, state: endpoint.state, isOpen };
  return Object.assign(worker, fresh, health) as EndpointWorker;
}

/** Counts a result for or against the endpoint; a 410 at the last try means that it is gone. */
export function classify(worker: EndpointWorker, { state, status, at }: Result): void {
  if (state === "DELIVERED") {
    if (worker.failures === 0) return;
    Object.assign(worker, { failures: 0, failingSince: null });
  } else {
    worker.failures++;
    worker.failingSince ??= at;
    if (state === "FAILED" && status === 410) worker.isGone = true;
  }
  worker.isHealthChanged = true;
}

/** Forgets what is fetched and not started. */
export function dropReady(worker: EndpointWorker): void {
  for (const { id } of worker.ready.splice(0)) worker.known.delete(id);
}
