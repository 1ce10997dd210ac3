import type pg from "pg";
import { isTracing, startChild } from "./spans.ts";

type Query = (...given: unknown[]) => unknown;

/** Lets each statement of a pool be a span of the request that sent it, by its name and without values. */
export function traceQueries(pool: pg.Pool): void {
  if (!isTracing()) return;
  pool.on("connect", (client) => {
    const query = client.query.bind(client) as Query;
    client.query = traced(query) as typeof client.query;
  });
  // The pool's own asks in the context of whoever gave the connection back.
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

/** Cursors and COPY have no end that could be seen here, and are no spans. */
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

/** Verb and table of a statement without a name, such as those of Prisma. */
function describe(text: string): string {
  const [verb = "statement"] = /[A-Za-z]+/.exec(text) ?? [];
  const [, table] = /"public"\."(\w+)"/.exec(text) ?? [];
  return table === undefined ? verb.toUpperCase() : `${verb.toUpperCase()} ${table}`;
}
