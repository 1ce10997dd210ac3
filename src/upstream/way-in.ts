import type { SchoolId } from "../directory/index.ts";
import type { Origin } from "../events/index.ts";
import type { PrismaDb, RecordStore, Transaction } from "../platform/database/db.ts";
import type { ConnectionId } from "./ids.ts";
import type { Profile } from "./profiles.ts";

/** A button of the sign-in page. */
export type WayIn = {
  connectionId: ConnectionId;
  profile: Profile;
  name: string;
  schoolId: SchoolId;
  schoolName: string;
};

export type WayInSettings = { linkName: string | null; localPasswords: boolean; emergencyUntil: Date | null };
export type FoundSchool = { schoolId: SchoolId; name: string; city: string | null; linkName: string | null };

/** The connections of a school that are on. */
export declare function listWaysIn(db: RecordStore, schoolId: SchoolId): Promise<WayIn[]>;
export declare function findWayInSettings(db: RecordStore, schoolId: SchoolId): Promise<WayInSettings>;
/** Whether the people at home in the school may sign in with a password now. */
export declare function allowsLocalPasswords(settings: WayInSettings, at: Date): boolean;
export declare function putWayInIn(
  tx: Transaction,
  settings: { schoolId: SchoolId; linkName: string | null; localPasswords: boolean },
  origin: Origin,
): Promise<void>;
/** Local passwords for a day. */
export declare function openEmergencyIn(tx: Transaction, schoolId: SchoolId, origin: Origin): Promise<void>;
export declare function closeEmergencyIn(tx: Transaction, schoolId: SchoolId, origin: Origin): Promise<void>;
/** Schools with a way in, by words of name and place; few, best first. */
export declare function findSchoolsByWords(db: PrismaDb, words: string): Promise<FoundSchool[]>;
export declare function findSchoolByLinkName(db: RecordStore, linkName: string): Promise<FoundSchool | null>;
