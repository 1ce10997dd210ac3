import type { Store } from "./sync/store.ts";
/** What `DatabaseSync` of node:sqlite, and `Database` of better-sqlite3 and bun:sqlite, have in common. */
export type SqliteDatabase = {
    exec(sql: string): unknown;
    prepare(sql: string): {
        run(...values: (string | number)[]): unknown;
        get(...values: (string | number)[]): unknown;
        all(...values: (string | number)[]): unknown[];
    };
};
/** Keeps the copy in three tables of a SQLite database, which it makes; a record is JSON in the column `body`. */
export declare function makeSqliteStore(database: SqliteDatabase): Store;
