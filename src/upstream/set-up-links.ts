import type { SchoolId } from "../directory/index.ts";
import type { Origin } from "../events/index.ts";
import type { PrismaDb, RecordStore, Transaction } from "../platform/database/db.ts";
import type { EncryptionKeys } from "../platform/crypto/seal.ts";
import type { ConnectionId, SetUpLinkId } from "./ids.ts";
import type { TestedSignIn } from "./test-sign-in.ts";

export type SetUpLink = {
  id: SetUpLinkId;
  connectionId: ConnectionId;
  schoolId: SchoolId;
  createdAt: Date;
  expiresAt: Date;
  openedAt: Date | null;
  closedAt: Date | null;
};

export declare function createSetUpLinkIn(
  tx: Transaction,
  link: { connectionId: ConnectionId; days: number },
  origin: Origin,
): Promise<{ id: SetUpLinkId; token: string; expiresAt: Date }>;
export declare function listSetUpLinks(db: RecordStore, connectionId: ConnectionId): Promise<SetUpLink[]>;
/** Null for one that is unknown, closed, expired or opened in another browser. */
export declare function openSetUpLink(
  db: PrismaDb,
  opened: { token: string; browser: string; at: Date },
): Promise<SetUpLink | null>;
/** As `openSetUpLink`, for the pages after the first. */
export declare function findSetUpLink(
  db: RecordStore,
  opened: { id: SetUpLinkId; browser: string; at: Date },
): Promise<SetUpLink | null>;
export declare function closeSetUpLinkIn(tx: Transaction, id: SetUpLinkId, origin: Origin): Promise<void>;
/** What arrived at the last test sign-in of this link. */
export declare function findTestedSignIn(
  db: RecordStore,
  id: SetUpLinkId,
  keys: EncryptionKeys,
): Promise<TestedSignIn | null>;
