import type { PersonId, PersonName, SchoolId } from "../directory/index.ts";
import type { Origin } from "../events/index.ts";
import type { EncryptionKeys } from "../platform/crypto/seal.ts";
import type { RecordStore, Transaction } from "../platform/database/db.ts";
import type { ConnectionId, RefusalId } from "./ids.ts";

export type Link = {
  connectionId: ConnectionId;
  connectionName: string;
  schoolId: SchoolId;
  issuer: string;
  subject: string;
  personId: PersonId;
  name: PersonName | null;
  linkedAt: Date;
  linkedBy: "RULE" | "STAFF";
  lastSignInAt: Date | null;
};

export declare function listLinks(
  db: RecordStore,
  of: { connectionId?: ConnectionId; personId?: PersonId; after?: PersonId | undefined; limit: number },
): Promise<Link[]>;
export declare function linkByHandIn(
  tx: Transaction,
  link: { refusalId: RefusalId; personId: PersonId },
  context: { keys: EncryptionKeys; origin: Origin },
): Promise<void>;
export declare function unlinkIn(
  tx: Transaction,
  link: { connectionId: ConnectionId; personId: PersonId },
  origin: Origin,
): Promise<void>;
