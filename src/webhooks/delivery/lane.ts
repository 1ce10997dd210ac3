import type { EncryptionKeys } from "../../platform/seal.ts";
import { openSecret } from "../secret.ts";
import type { Target } from "./attempt.ts";
import type { Due } from "./due.ts";
import type { LeasedEndpoint } from "./lease.ts";
import type { Result } from "./record.ts";

/** What one process has under way for an endpoint that it holds the lease of. */
export type Lane = Target & {
  id: string;
  clientId: string;
  state: LeasedEndpoint["state"];
  /** Fetched, not yet started. */
  ready: Due[];
  /** Fetched and not yet recorded, by number. */
  known: Set<string>;
  running: number;
  /** The last look found no more than was taken. */
  isDry: boolean;
  isOpen: boolean;
  failures: number;
  failingSince: Date | null;
  isHealthChanged: boolean;
  isGone: boolean;
};

const mostAtOnce = 8;

/** How many deliveries an endpoint gets at once: the more it fails, the fewer, so that it takes nothing from the others. */
export const capOf = ({ failures }: Pick<Lane, "failures">): number => Math.max(1, mostAtOnce >> Math.min(failures, 3));

/** How many are fetched ahead. */
export const roomOf = (lane: Lane): number => (lane.failures > 0 ? capOf(lane) : 4 * mostAtOnce) - lane.known.size;

export function openLane(endpoint: LeasedEndpoint, keys: EncryptionKeys): Lane {
  const lane = {
    id: endpoint.id,
    clientId: endpoint.clientId,
    ready: [],
    known: new Set<string>(),
    running: 0,
    isDry: false,
    isHealthChanged: false,
    isGone: false,
  };
  return refresh(lane, endpoint, keys);
}

type Kept = Omit<Lane, keyof Fresh>;
type Fresh = Target & Pick<Lane, "state" | "isOpen" | "failures" | "failingSince">;

/** Takes over what may have been changed meanwhile: address, secrets, state. */
export function refresh(lane: Kept & Partial<Fresh>, endpoint: LeasedEndpoint, keys: EncryptionKeys): Lane {
  const isOpen = endpoint.state === "ACTIVE" || (endpoint.state === "PAUSED" && endpoint.isResumable);
  const health = lane.isHealthChanged ? {} : { failures: endpoint.failures, failingSince: endpoint.failingSince };
  // One that cannot be opened is this endpoint's trouble alone: its attempts fail and say so.
  const secrets = endpoint.secrets.map((sealed) => openSecret(keys, sealed)).filter((secret) => secret !== null);
  return Object.assign(lane, { url: new URL(endpoint.url), secrets, state: endpoint.state, isOpen }, health) as Lane;
}

/** Counts a result for or against the endpoint. */
export function judge(lane: Lane, { state, status, at }: Result): void {
  if (state === "DELIVERED") {
    if (lane.failures === 0) return;
    Object.assign(lane, { failures: 0, failingSince: null });
  } else {
    lane.failures++;
    lane.failingSince ??= at;
    if (status === 410) lane.isGone = true;
  }
  lane.isHealthChanged = true;
}
