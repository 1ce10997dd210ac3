import type { GroupRecord, PersonRecord, SchoolRecord, Store } from "./store.ts";
export type MemoryStore = Store & {
    readonly school: ReadonlyMap<string, SchoolRecord>;
    readonly group: ReadonlyMap<string, GroupRecord>;
    readonly person: ReadonlyMap<string, PersonRecord>;
};
/** Keeps the copy in memory: for tests, and for apps that read everything again when they start. */
export declare function makeMemoryStore(): MemoryStore;
