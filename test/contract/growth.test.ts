import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { testDatabase } from "../support/database.ts";

const db = await testDatabase();
const growth = readFileSync("prisma/GROWTH.md", "utf8");

type Line = { tables: string[]; cells: string[] };

const lines: Line[] = growth
  .split("\n")
  .filter((line) => line.startsWith("| `"))
  .map((line) =>
    line
      .split("|")
      .slice(1, -1)
      .map((cell) => cell.trim()),
  )
  .map((cells) => ({ tables: [...cells[0]!.matchAll(/`([a-z_]+)`/g)].map(([, table]) => table!), cells }));

test("every table of the database has a line that says who makes it grow, until when, and what bounds it", async () => {
  const { rows } = await db.pool.query<{ name: string }>(
    `SELECT relname AS name FROM pg_class WHERE relnamespace = 'public'::regnamespace AND relkind IN ('r', 'p')
     AND NOT relispartition AND relname <> '_prisma_migrations'`,
  );
  const described = new Set(lines.flatMap(({ tables }) => tables));
  expect([...described].sort()).toEqual(rows.map(({ name }) => name).sort());
  for (const { cells } of lines)
    expect(
      cells.filter((cell) => cell !== ""),
      cells[0],
    ).toHaveLength(5);
});

test("every kind of artifact that is stored has a line", () => {
  const kinds = lines
    .filter(({ tables }) => tables.includes("oidc_artifact"))
    .flatMap(({ cells }) => [...cells[0]!.matchAll(/\b[A-Z]\w+/g)].map(([kind]) => kind));
  expect(kinds.sort()).toEqual([
    "AccessToken",
    "AuthorizationCode",
    "ClientCredentials",
    "Interaction",
    "RefreshToken",
    "Session",
  ]);
});
