import type { SchoolId } from "../directory/index.ts";
import type { Origin } from "../events/index.ts";
import { withPrismaTransaction, type PrismaDb, type Transaction } from "../platform/database/db.ts";
import { putPolicy, type RetentionPolicy, type RetentionSubject } from "./policy.ts";
import type { RetentionRules } from "./rules.ts";

class RolledBack<T> extends Error {
  readonly result: T;
  constructor(result: T) {
    super("The preview was rolled back.");
    this.result = result;
  }
}

/** Sets a proposed policy without its notice, reads what it would do, and rolls it back. Errors: as `putPolicy`. */
export async function withProposal<T>(
  db: PrismaDb,
  { policy, ...proposal }: { subject: RetentionSubject; policy: RetentionPolicy | undefined; rules: RetentionRules },
  origin: Origin,
  read: (tx: Transaction) => Promise<T>,
): Promise<T> {
  if (policy === undefined) return withPrismaTransaction(db, read);
  const rules = { ...proposal.rules, noticeDays: 0 };
  try {
    return await withPrismaTransaction(db, async (tx) => {
      await putPolicy(tx, { ...proposal, policy, rules }, origin);
      throw new RolledBack(await read(tx));
    });
  } catch (error) {
    if (error instanceof RolledBack) return (error as RolledBack<T>).result;
    throw error;
  }
}

/** The schools of a state by name, from the one after `after`. */
export async function listSchoolsOfState(
  { prisma }: Pick<Transaction, "prisma">,
  state: string,
  { limit, after }: { limit: number; after: string | undefined },
): Promise<SchoolId[]> {
  const [country, code] = state.split("-") as [string, string];
  const found = await prisma.school.findMany({
    where: { country, state: code, sandboxId: null },
    orderBy: [{ sortKey: "asc" }, { id: "asc" }],
    select: { id: true },
    take: limit,
    ...(after !== undefined && { cursor: { id: after }, skip: 1 }),
  });
  return found.map(({ id }) => id as SchoolId);
}
