import { appendFileSync } from "node:fs";
import { join } from "node:path";
import pg from "pg";

// Loaded into every Node process of a run (`node --import`): writes each text of SQL that the service asks for the
// first time to a file in QUERIES_FOLDER, one JSON string a line. What tests ask by themselves is left out.
const folder = process.env["QUERIES_FOLDER"];
if (folder !== undefined) watchQueries(join(folder, `${process.pid}.jsonl`));

type Asks = { query(asked: unknown, ...rest: unknown[]): unknown };

function watchQueries(file: string): void {
  const seen = new Set<string>();
  const note = (asked: unknown) => {
    const text = typeof asked === "string" ? asked : (asked as { text?: unknown } | null)?.text;
    if (typeof text !== "string" || seen.has(text) || !isOfService()) return;
    seen.add(text);
    appendFileSync(file, `${JSON.stringify(text)}\n`);
  };
  // A pool asks one of its clients later, when nobody who called it is on the stack.
  for (const asks of [pg.Client.prototype, pg.Pool.prototype] as unknown as Asks[]) {
    const query = asks.query;
    asks.query = function (this: unknown, asked: unknown, ...rest: unknown[]) {
      note(asked);
      return query.call(this, asked, ...rest);
    };
  }
}

const deepStack = 60;

function isOfService(): boolean {
  const limit = Error.stackTraceLimit;
  Error.stackTraceLimit = deepStack;
  const frames = (new Error().stack ?? "").split("\n");
  Error.stackTraceLimit = limit;
  return frames.some((frame) =>
    frame.includes("node_modules") ? frame.includes("@prisma/adapter-pg") : frame.includes("/src/"),
  );
}
