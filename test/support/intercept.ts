import type pg from "pg";
import type { PrismaDb } from "../../src/platform/database/db.ts";
import { makePrisma } from "../../src/platform/database/prisma.ts";

type Asked = string | { text: string };

/**
 * The same database, where `before` runs ahead of every statement of a transaction, of Prisma Client and named SQL
 * alike.
 */
export function interceptStatements(db: PrismaDb, before: (text: string) => Promise<void>): PrismaDb {
  const query =
    (client: pg.PoolClient) =>
    async (asked: Asked, ...rest: unknown[]): Promise<unknown> => {
      await before(typeof asked === "string" ? asked : asked.text);
      return (client.query as (...given: unknown[]) => unknown)(asked, ...rest);
    };
  const connect = async () => replace(await db.pool.connect(), (client) => ({ query: query(client) }));
  const pool = replace(db.pool, () => ({ connect }));
  return { pool, prisma: makePrisma(pool) };
}

/** The object with other members in place of some of its own. */
function replace<Whole extends object>(whole: Whole, members: (whole: Whole) => Record<string, unknown>): Whole {
  const replaced = members(bound(whole));
  return new Proxy(bound(whole), {
    get: (target, key, receiver): unknown => replaced[String(key)] ?? Reflect.get(target, key, receiver),
  });
}

/** The object, whose methods know it wherever they are called from. */
const bound = <Whole extends object>(whole: Whole): Whole =>
  new Proxy(whole, {
    get(target, key): unknown {
      const value: unknown = Reflect.get(target, key);
      return typeof value === "function" ? (value as (...given: unknown[]) => unknown).bind(target) : value;
    },
  });
