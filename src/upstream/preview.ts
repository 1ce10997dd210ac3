import type { PrismaDb } from "../platform/database/db.ts";
import type { EncryptionKeys } from "../platform/crypto/seal.ts";
import type { GroupId } from "../directory/index.ts";
import type { Rule } from "./connection.ts";
import type { AccountRefusal } from "./failures.ts";
import type { ConnectionId } from "./ids.ts";

export type RulePreview = {
  /** The people at home in the school (and in the classes, if some are chosen). */
  roster: { people: number; withKey: number; unique: number };
  /** The latest sign-ins of different people, at most 200 and 30 days old. */
  signIns: { tried: number; same: number; another: number; refused: { code: AccountRefusal; count: number }[] };
  /** Those who are on the list of refusals now. */
  refusals: { tried: number; letIn: number };
};

export declare function previewRule(
  db: PrismaDb,
  asked: { connectionId: ConnectionId; rule: Rule; groupIds: readonly GroupId[] },
  keys: EncryptionKeys,
): Promise<RulePreview>;
