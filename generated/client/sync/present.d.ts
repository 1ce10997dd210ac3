import type { ListedPerson, Person, User } from "../contract.ts";
import type { GroupRecord, PersonRecord } from "./store.ts";
/** A person's record says all that the user's says, and their identifier in the source system. */
export declare const makePersonRecord: (shown: Person | ListedPerson | User) => PersonRecord;
export declare const makeGroupRecord: ({ id, name }: {
    id: string;
    name: string;
}) => GroupRecord;
