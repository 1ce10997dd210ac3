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
/**
 * Opens a file with the SQLite that is built into Node.
 *
 * Errors: says which Node has it, if this one has not.
 */
export declare function openSqlite(file: string): Promise<SqliteDatabase & {
    close(): void;
}>;
/** Keeps the copy in tables of a SQLite database, which it makes; a record is JSON in the column `body`. */
export declare function makeSqliteStore(database: SqliteDatabase): Store;
