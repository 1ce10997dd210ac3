import type { ReceivedWebhook, Store, StoredRecord } from "./sync/store.ts";

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
export async function openSqlite(file: string): Promise<SqliteDatabase & { close(): void }> {
  const name = "node:sqlite";
  const { DatabaseSync } = (await import(/* @vite-ignore */ name).catch((cause: unknown) => {
    throw new Error(
      "This Node has no node:sqlite: it needs 22.13 or later. Or give makeSqliteStore a database of better-sqlite3.",
      { cause },
    );
  })) as { DatabaseSync: new (file: string) => SqliteDatabase & { close(): void } };
  return new DatabaseSync(file);
}

const tables = `
  CREATE TABLE IF NOT EXISTS sync_record (type TEXT, id TEXT, body TEXT NOT NULL, PRIMARY KEY (type, id));
  CREATE TABLE IF NOT EXISTS sync_position (one INTEGER PRIMARY KEY CHECK (one = 1), position TEXT NOT NULL);
  CREATE TABLE IF NOT EXISTS sync_own_ids (one INTEGER PRIMARY KEY CHECK (one = 1));
  CREATE TABLE IF NOT EXISTS sync_webhook (
    nr INTEGER PRIMARY KEY AUTOINCREMENT, id TEXT NOT NULL UNIQUE, hint TEXT NOT NULL, done_at INTEGER
  );
`;
const dayMs = 86_400_000;

/** Keeps the copy in tables of a SQLite database, which it makes; a record is JSON in the column `body`. */
export function makeSqliteStore(database: SqliteDatabase): Store {
  database.exec(tables);
  const statements = {
    put: database.prepare("INSERT OR REPLACE INTO sync_record (type, id, body) VALUES (?, ?, ?)"),
    remove: database.prepare("DELETE FROM sync_record WHERE type = ? AND id = ?"),
    get: database.prepare("SELECT body FROM sync_record WHERE type = ? AND id = ?"),
    ids: database.prepare("SELECT id FROM sync_record WHERE type = ?"),
    move: database.prepare("INSERT OR REPLACE INTO sync_position (one, position) VALUES (1, ?)"),
    position: database.prepare("SELECT position FROM sync_position"),
    own: database.prepare("INSERT OR IGNORE INTO sync_own_ids (one) VALUES (1)"),
    isOwn: database.prepare("SELECT one FROM sync_own_ids"),
    add: database.prepare("INSERT OR IGNORE INTO sync_webhook (id, hint) VALUES (?, ?)"),
    finish: database.prepare("UPDATE sync_webhook SET done_at = ? WHERE id = ?"),
    forget: database.prepare("DELETE FROM sync_webhook WHERE done_at < ?"),
    waiting: database.prepare("SELECT id, hint FROM sync_webhook WHERE done_at IS NULL ORDER BY nr LIMIT ?"),
  };

  const find = (type: string, id: string): StoredRecord | null => {
    const row = statements.get.get(type, id) as { body: string } | null | undefined;
    return row ? (JSON.parse(row.body) as StoredRecord) : null;
  };
  const put = (record: StoredRecord) => statements.put.run(record.type, record.id, JSON.stringify(record));

  function rekey(from: string, to: string): void {
    const person = find("person", from);
    if (person && !find("person", to)) put({ ...person, id: to } as StoredRecord);
    statements.remove.run("person", from);
  }

  /** Nothing else can come between, because nothing in `work` waits. */
  function inTransaction(work: () => void): void {
    database.exec("BEGIN IMMEDIATE");
    try {
      work();
      database.exec("COMMIT");
    } catch (error) {
      database.exec("ROLLBACK");
      throw error;
    }
  }

  return {
    async write({ put: records = [], remove = [], position, done = [], rekey: people = [], hasOwnIds }) {
      inTransaction(() => {
        for (const record of records) put(record);
        for (const { from, to } of people) rekey(from, to);
        for (const { type, id } of remove) statements.remove.run(type, id);
        if (position !== undefined) statements.move.run(position);
        if (hasOwnIds) statements.own.run();
        for (const id of done) statements.finish.run(Date.now(), id);
      });
    },
    get: async ({ type, id }) => find(type, id),
    listIds: async (type) => (statements.ids.all(type) as { id: string }[]).map(({ id }) => id),
    getPosition: async () => (statements.position.get() as { position: string } | null | undefined)?.position ?? null,
    hasOwnIds: async () => Boolean(statements.isOwn.get()),
    async addWebhook({ id, hint }) {
      statements.forget.run(Date.now() - dayMs);
      statements.add.run(id, JSON.stringify(hint));
    },
    listWebhooks: async (limit) =>
      (statements.waiting.all(limit) as { id: string; hint: string }[]).map(({ id, hint }) => ({
        id,
        hint: JSON.parse(hint) as ReceivedWebhook["hint"],
      })),
  };
}
