import pg from "pg";
import type { Db } from "../../src/platform/database/db.ts";
import type { Queryable } from "../../src/platform/database/sql.ts";

export type Plan = {
  "Node Type": string;
  "Relation Name"?: string;
  "Subplan Name"?: string;
  "Actual Rows"?: number;
  "Actual Loops"?: number;
  "Rows Removed by Filter"?: number;
  "Rows Removed by Join Filter"?: number;
  "Shared Hit Blocks"?: number;
  "Shared Read Blocks"?: number;
  Plans?: Plan[];
};

/** The plan of what was prepared under a name in the session of this client. */
export async function explainPrepared(
  client: Queryable,
  name: string,
  { values, options }: { values: readonly unknown[]; options: string },
): Promise<Plan> {
  const given = values
    .map((value) => (value === null || value === undefined ? "NULL" : pg.escapeLiteral(asText(value))))
    .join(", ");
  const { rows } = await client.query<{ "QUERY PLAN": { Plan: Plan }[] }>(
    `EXPLAIN (${options}, FORMAT JSON) EXECUTE ${name}${given && `(${given})`}`,
  );
  return rows[0]!["QUERY PLAN"][0]!.Plan;
}

function asText(value: unknown): string {
  if (value instanceof Date) return value.toISOString();
  if (Buffer.isBuffer(value)) return `\\x${value.toString("hex")}`;
  if (Array.isArray(value)) return `{${value.map((item) => JSON.stringify(asText(item))).join(",")}}`;
  return typeof value === "object" ? JSON.stringify(value) : String(value as string);
}

/** The rows that a plan reads, those that it throws away too. */
export const countRead = (plan: Plan): number =>
  ((plan["Actual Rows"] ?? 0) + (plan["Rows Removed by Filter"] ?? 0)) * (plan["Actual Loops"] ?? 1) +
  (plan.Plans ?? []).reduce((sum, part) => sum + countRead(part), 0);

export type Query = { name?: string | undefined; text: string; values: unknown[] };

/** What this process asks of databases meanwhile, of the queries with such a text. */
export async function recordQueries(matching: RegExp, work: () => Promise<unknown>): Promise<Query[]> {
  const seen: Query[] = [];
  const send = pg.Client.prototype.query;
  pg.Client.prototype.query = function (this: pg.Client, ...args: unknown[]) {
    const { name, text, values } = args[0] as Partial<Query>;
    if (text !== undefined && matching.test(text))
      seen.push({ name, text, values: values ?? (args[1] as unknown[] | undefined) ?? [] });
    return Reflect.apply(send, this, args) as never;
  } as typeof send;
  try {
    await work();
  } finally {
    pg.Client.prototype.query = send;
  }
  return seen;
}

/**
 * The plan of a query, run or, for one that writes and cannot write again, only planned.
 *
 * Shape: `mode` is the plan with these values, or the one that PostgreSQL keeps whatever the values.
 */
export async function explainQuery(
  { pool }: Pick<Db, "pool">,
  { text, values }: Query,
  mode: "force_custom_plan" | "force_generic_plan",
): Promise<Plan> {
  const client = await pool.connect();
  try {
    await client.query(`BEGIN; SET LOCAL plan_cache_mode = ${mode}`);
    await client.query(`PREPARE explained AS ${text}`);
    const analyze = /\b(INSERT|UPDATE|DELETE)\b/.test(text) ? "off" : "on";
    return await explainPrepared(client, "explained", { values, options: `ANALYZE ${analyze}` });
  } finally {
    client.release(true);
  }
}

/** What a run of a named statement read: pages, for how many rows or things, and tables from end to end. */
export type Cost = { name: string; pages: number; things: number; scanned: string[] };

type Named = { name: string; text: string; values?: unknown[] };
const isNamed = (asked: unknown): asked is Named =>
  typeof asked === "object" && asked !== null && "name" in asked && /\b(FROM|UPDATE)\b/.test((asked as Named).text);

/**
 * A database whose named statements are measured before they run, with the plans that their sessions keep, as in the
 * service.
 */
export function measureStatements(db: Db): { db: Db; costs: Cost[] } {
  const costs: Cost[] = [];
  const prepared = new WeakMap<object, Set<string>>();

  async function measure(client: pg.PoolClient, asked: Named): Promise<pg.QueryResult> {
    const names = prepared.get(client) ?? new Set();
    prepared.set(client, names);
    const name = `measured_${asked.name.replace(".", "_")}`;
    if (!names.has(name)) await client.query(`PREPARE ${name} AS ${asked.text}`);
    names.add(name);
    await client.query("SAVEPOINT before");
    const plan = await explainPrepared(client, name, { values: asked.values ?? [], options: "ANALYZE, BUFFERS" });
    await client.query("ROLLBACK TO before");
    const result = await client.query<Record<string, unknown>>(asked);
    const counts = Object.values(result.rows[0] ?? {}).filter((value) => typeof value === "number");
    costs.push({
      name: asked.name,
      pages: countPages(plan),
      things: Math.max(result.rowCount ?? 0, ...counts),
      scanned: listScanned(plan),
    });
    return result;
  }
  const connect = async (): Promise<pg.PoolClient> => {
    const client = await db.pool.connect();
    return override(client, {
      query: (asked: unknown, values?: unknown[]) =>
        isNamed(asked) ? measure(client, asked) : client.query(asked as string, values),
    });
  };
  async function query(asked: unknown, values?: unknown[]): Promise<pg.QueryResult> {
    if (!isNamed(asked)) return db.pool.query(asked as string, values);
    const client = await db.pool.connect();
    try {
      await client.query("BEGIN");
      const result = await measure(client, asked);
      await client.query("COMMIT");
      return result;
    } finally {
      client.release();
    }
  }
  return { db: { ...db, pool: override(db.pool, { connect, query }) }, costs };
}

const override = <T extends object>(target: T, own: Record<string, unknown>): T =>
  new Proxy(target, {
    get(_target, key) {
      const value: unknown = own[String(key)] ?? Reflect.get(target, key);
      return typeof value === "function" ? (value.bind(target) as unknown) : value;
    },
  });

/** A node counts what is below it; what a WITH writes is below none. */
function countPages(plan: Plan): number {
  const apart = (plan.Plans ?? []).filter((node) => node["Subplan Name"]?.startsWith("CTE "));
  return (
    (plan["Shared Hit Blocks"] ?? 0) +
    (plan["Shared Read Blocks"] ?? 0) +
    apart.reduce((sum, node) => sum + countPages(node), 0)
  );
}

/** The tables that a plan reads from end to end. */
export const listScanned = (plan: Plan): string[] => [
  ...(plan["Node Type"] === "Seq Scan" ? [plan["Relation Name"]!] : []),
  ...(plan.Plans ?? []).flatMap(listScanned),
];
