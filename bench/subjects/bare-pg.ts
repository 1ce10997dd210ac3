// The baseline of the reads: node:http and one prepared query, no token, no check, no framework. Every address
// answers the last column of its statement's one row.
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import pg from "pg";

const pool = new pg.Pool({ connectionString: process.env["DATABASE_URL"]!, max: 10 });
const statements = JSON.parse(process.env["BENCH_STATEMENTS"]!) as Record<
  string,
  { name: string; text: string; values: unknown[] }
>;

const server = createServer((req, res) => {
  void pool.query<string[]>({ ...statements[req.url!]!, rowMode: "array" }).then(({ rows }) => {
    const body = Buffer.from(rows[0]!.at(-1)!);
    res.writeHead(200, { "Content-Type": "application/json; charset=utf-8", "Content-Length": body.length });
    res.end(body);
  });
});
server.listen(0, "127.0.0.1", () =>
  process.send?.({ url: `http://127.0.0.1:${String((server.address() as AddressInfo).port)}` }),
);
process.once("SIGTERM", () => process.exit(0));
