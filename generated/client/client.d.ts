import { type Client as FetchClient } from "openapi-fetch";
import type { Change, ChangeList, Erasure, ErasureOutcome, Codeliste, Group, IdentifierChange, IdmPaths, ListedGroup, ListedPerson, Person, Personendatensatz, PersonenInfoFilter, Roster, School, SchulconnexPaths, SchulconnexSpelling, User } from "./contract.ts";
import { type RetryOptions, type Send } from "./retry.ts";
import { type Credentials } from "./tokens.ts";
export type ClientOptions<Spelling extends SchulconnexSpelling = "V1_4"> = Credentials & RetryOptions & {
    /** How the app is registered to read Schulconnex codes. Chooses types only. Default `V1_4`. */
    schulconnexSpelling?: Spelling | undefined;
    /** Where the APIs are, if not at the issuer. */
    baseUrl?: string | undefined;
    /** Instead of the global `fetch`. */
    fetch?: Send | undefined;
};
/** `signal` ends the call, also while it waits for a token or a retry. */
export type CallOptions = {
    signal?: AbortSignal | undefined;
};
/** `limit`: how many records a page has, 1 to 1000; default 500. */
export type ListOptions = CallOptions & {
    limit?: number | undefined;
};
export type ListDeletedOptions = ListOptions & {
    showDeleted?: boolean | undefined;
};
/** `id`: only the person with this old or new id. */
export type IdentifierOptions = ListOptions & {
    id?: string | undefined;
};
/** `after`: the position behind which to begin. */
export type ChangesOptions = ListOptions & {
    after: string;
};
/** `state`: which erasures; the open ones by default. */
export type ErasuresOptions = ListOptions & {
    state?: Erasure["state"] | undefined;
};
/**
 * Lists are read page by page as the loop goes on. `find…` answers null for what does not exist, or not for the app.
 */
export type IdmClient = {
    readonly scopes: readonly string[];
    listSchools(options?: ListOptions): AsyncGenerator<School, void>;
    listSchoolUsers(schoolId: string, options?: ListOptions): AsyncGenerator<User, void>;
    listSchoolGroups(schoolId: string, options?: ListDeletedOptions): AsyncGenerator<ListedGroup, void>;
    listSchoolPeople(schoolId: string, options?: ListDeletedOptions): AsyncGenerator<ListedPerson, void>;
    findSchool(id: string, options?: CallOptions): Promise<School | null>;
    /** The school with its groups, people and users, as far as the scopes of the client reach. */
    findSchoolRoster(id: string, options?: CallOptions): Promise<Roster | null>;
    findUser(id: string, options?: CallOptions): Promise<User | null>;
    findGroup(id: string, options?: CallOptions): Promise<Group | null>;
    /** `showDeleted`: a soft-deleted person too; the record then has a `status`. */
    findPerson(id: string, options?: CallOptions & {
        showDeleted?: boolean | undefined;
    }): Promise<Person | null>;
    /** The present position in the change feed. */
    getPosition(options?: CallOptions): Promise<string>;
    /** The changes behind `after` to the present end of the feed. Errors: `CursorExpiredError`. */
    listChanges(options: ChangesOptions): AsyncGenerator<Change, void>;
    /** The same by page; `next` is the position to keep once the page is worked on. */
    listChangePages(options: ChangesOptions): AsyncGenerator<ChangeList, void>;
    /** The people whose data the app must erase, for an app that confirms erasures. */
    listErasures(options?: ErasuresOptions): AsyncGenerator<Erasure, void>;
    /**
     * Confirms an erasure, or says why data is kept; sent again like a read. Null if there is nothing to confirm any
     * more.
     */
    acknowledgeErasure(id: string, outcome: ErasureOutcome, options?: CallOptions): Promise<Erasure | null>;
    /** The old and the new ids of people, for an app that is moved from shared ids to ids of its own. */
    listIdentifierChanges(options?: IdentifierOptions): AsyncGenerator<IdentifierChange, void>;
    /** Every operation of the IDM API as openapi-fetch calls it; what is no success is thrown as `ApiError`. */
    readonly idm: FetchClient<IdmPaths>;
};
export type Client<Spelling extends SchulconnexSpelling = "V1_4"> = IdmClient & {
    listPersonenInfo(filter?: PersonenInfoFilter, options?: CallOptions): Promise<Personendatensatz<Spelling>[]>;
    /** The Schulconnex record of the person whose sign-on brought this access token. */
    getPersonInfo(userToken: string, options?: CallOptions): Promise<Personendatensatz<Spelling>>;
    /** The codes of the records with their names in German and English. */
    listCodelisten(options?: CallOptions): Promise<Codeliste[]>;
    /** Every operation of Schulconnex as openapi-fetch calls it; what is no success is thrown as `ApiError`. */
    readonly schulconnex: FetchClient<SchulconnexPaths<Spelling>>;
};
/**
 * A client of the service for one app.
 *
 * Errors: every call throws `ApiError`, `TokenError` if there is no token for it, `NetworkError` if there is no answer,
 * or the reason of its signal.
 */
export declare function createClient<Spelling extends SchulconnexSpelling = "V1_4">(options: ClientOptions<Spelling>): Client<Spelling>;
