import type { Origin } from "../events/index.ts";
import type { EncryptionKeys } from "../platform/crypto/seal.ts";
import type { Transaction, RecordStore } from "../platform/database/db.ts";
import type { AccountRefusal } from "./failures.ts";
import type { ConnectionId, RefusalId } from "./ids.ts";

export type Refusal = {
  id: RefusalId;
  connectionId: ConnectionId;
  code: AccountRefusal;
  firstAt: Date;
  lastAt: Date;
  tries: number;
  subject: string | null;
  /** The claim of the rule and its value; null where it was missing. */
  ruleClaim: string | null;
  ruleValue: string | null;
  /** What the provider calls the person. */
  displayName: string | null;
  /** How many people the rule matched. */
  matches: number;
};

export declare function listRefusals(
  db: RecordStore,
  of: { connectionId: ConnectionId; after?: RefusalId | undefined; limit: number },
  keys: EncryptionKeys,
): Promise<Refusal[]>;
export declare function dismissRefusalIn(
  tx: Transaction,
  refusal: { connectionId: ConnectionId; id: RefusalId },
  origin: Origin,
): Promise<void>;
