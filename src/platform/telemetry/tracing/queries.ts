import type pg from "pg";
import { isTracing, startChild } from "./spans.ts";

type Query = (...given: unknown[]) => unknown;

export function traceQueries(pool: pg.Pool): void {
  if (!isTracing()) return;
  pool.on("connect", (client) => {
    const query = client.query.bind(client) as Query;
    client.query = traced(query) as typeof client.query;
  });
  // pool.query would use the context of the caller that released the connection.
  pool.query = (async (...given: unknown[]) => {
    const client = await pool.connect();
    let broken: Error | undefined;
    try {
      return await (client.query as Query)(...given);
    } catch (error) {
      broken = error as Error;
      throw error;
    } finally {
      client.release(broken);
    }
  }) as typeof pool.query;
}

const traced =
  (query: Query): Query =>
  (...given) => {
    const [asked] = given as [string | { name?: string; text?: string } | undefined];
    const text = typeof asked === "string" ? asked : asked?.text;
    if (text === undefined || typeof given.at(-1) === "function") return query(...given);
    const name = (typeof asked === "object" ? asked.name : undefined) ?? describe(text);
    const span = startChild(name, { "db.system.name": "postgresql", "db.query.summary": name });
    const result = query(...given);
    if (span === null || !(result instanceof Promise)) return result;
    return result.then(
      (answer: unknown) => {
        span.end();
        return answer;
      },
      (error: unknown) => {
        span.end({}, true);
        throw error;
      },
    );
  };

function describe(text: string): string {
  const [verb = "statement"] = /[A-Za-z]+/.exec(text) ?? [];
  const [, table] = /"public"\."(\w+)"/.exec(text) ?? [];
  return table === undefined ? verb.toUpperCase() : `${verb.toUpperCase()} ${table}`;
}
