// @ts-expect-error -- Prisma's own module, which has no types
import { QueryCompiler } from "@prisma/client/runtime/query_compiler_small_bg.postgresql.mjs";
import type pg from "pg";
import type { PrismaClient } from "../../generated/prisma/client.ts";
import type { OpenPrisma } from "../../src/platform/database/db.ts";
import { makePrisma } from "../../src/platform/database/prisma.ts";

type Kept = { prisma: PrismaClient; use(pool: pg.Pool): void };

const unused: Kept[] = [];

// Prisma keeps query plans per client. Here all clients of a process share them, because compiling a plan takes a few
// milliseconds.
const compiler = (QueryCompiler as { prototype: { compile(this: object, query: string): unknown } }).prototype;
const { compile } = compiler;
const plans = new Map<string, unknown>();
compiler.compile = function (query) {
  const plan = plans.get(query) ?? compile.call(this, query);
  plans.set(query, plan);
  return plan;
};

/**
 * A client for this pool. Making one takes as long as ten requests, so when its pool is closed, the client is kept for
 * the pool of the next database.
 */
export function openKeptPrisma(pool: pg.Pool): OpenPrisma {
  const kept = unused.pop() ?? make(pool);
  kept.use(pool);
  let isClosed = false;
  const prisma = new Proxy(kept.prisma, {
    get(client, key): unknown {
      if (isClosed) throw new Error("the database of this client is closed");
      return Reflect.get(client, key);
    },
  });
  const close = () => {
    isClosed = true;
    unused.push(kept);
    return Promise.resolve();
  };
  return { prisma, close };
}

function make(first: pg.Pool): Kept {
  let pool = first;
  const current = new Proxy(first, {
    get(_, key): unknown {
      const value: unknown = Reflect.get(pool, key);
      return typeof value === "function" ? (value as (...given: unknown[]) => unknown).bind(pool) : value;
    },
  });
  return { prisma: makePrisma(current), use: (next) => void (pool = next) };
}
