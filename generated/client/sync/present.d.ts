import type { ListedPerson, Person, User } from "../contract.ts";
import type { GroupRecord, PersonRecord } from "./store.ts";
type Read = {
    person: Person | ListedPerson | null;
    user: User | null;
};
/** Makes the record of somebody who is read as a person, as a user or as both; null for somebody who is neither. */
export declare function makePersonRecord({ person, user }: Read): PersonRecord | null;
/** Somebody who came while soft-deleted: there is nothing to read by id until they return. */
export declare const makeUnreadPerson: (id: string) => PersonRecord;
export declare const makeGroupRecord: ({ id, name }: {
    id: string;
    name: string;
}) => GroupRecord;
export {};
