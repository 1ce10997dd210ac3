import type { PersonName, School, User } from "../contract.ts";

export type SchoolRecord = School & { type: "school" };
export type GroupRecord = { type: "group"; id: string; name: string };
/**
 * Somebody whom the app sees as a person, as a user or as both.
 *
 * `groups` are ids. Of `SOFT_DELETED` people keep what they made in the app, for they may come back.
 */
export type PersonRecord = {
  type: "person";
  id: string;
  name: PersonName | null;
  role: User["role"];
  groups: string[];
  sourceSystemIdentifier: string | null;
  status: User["status"];
};

export type StoredRecord = SchoolRecord | GroupRecord | PersonRecord;
export type RecordType = StoredRecord["type"];
export type RecordKey = { type: RecordType; id: string };

/** What a webhook or an entry of the change feed is about. */
export type Hint = RecordKey;

/** A webhook that waits to be worked on; `id` is its `webhook-id`. */
export type ReceivedWebhook = { id: string; hint: Hint };

/** A person who has another id from now on, because the app got ids of its own. */
export type Rekeyed = { from: string; to: string };

/** What is written in one transaction. */
export type Batch = {
  put?: readonly StoredRecord[];
  remove?: readonly RecordKey[];
  /** The position in the change feed. */
  position?: string;
  /** The ids of webhooks that are worked on. */
  done?: readonly string[];
  /**
   * Move the record of a person, and everything else that you keep of them, from the old id to the new one. Do nothing
   * for an id that is not there; if the new one is there too, remove the old one.
   */
  rekey?: readonly Rekeyed[];
  /** Keep that all people have their new ids. */
  hasOwnIds?: true;
};

/** Where the copy is kept: a database of the app. One sync at a time writes to it. */
export interface Store {
  /** Writes all or nothing. To put what is there replaces it; to remove what is not there does nothing. */
  write(batch: Batch): Promise<void>;
  get(key: RecordKey): Promise<StoredRecord | null>;
  listIds(type: RecordType): Promise<string[]>;
  /** Null before the first load. */
  getPosition(): Promise<string | null>;
  /** Whether `hasOwnIds` was ever written. Without this, each process asks once more. */
  hasOwnIds?(): Promise<boolean>;
  /** Keeps a webhook durably. An id that it had within the last day, done or not, changes nothing. */
  addWebhook(webhook: ReceivedWebhook): Promise<void>;
  /** The webhooks that are not done, oldest first. */
  listWebhooks(limit: number): Promise<ReceivedWebhook[]>;
}

/** What reading and writing of records needs. */
export type Copy = Pick<Store, "write" | "get" | "listIds">;
