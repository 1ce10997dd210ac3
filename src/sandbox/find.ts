import type { Prisma } from "../../generated/prisma/client.ts";
import type { ClientId } from "../access/index.ts";
import type { SchoolId } from "../directory/index.ts";
import type { RecordStore, Transaction } from "../platform/database/db.ts";
import { AppError } from "../platform/errors.ts";
import { findRows, statement, table } from "../platform/database/sql.ts";
import { sandboxSteps, type SandboxStepName } from "./steps.ts";

export type SandboxId = string & { readonly __sandboxId: true };

export type Sandbox = {
  id: SandboxId;
  clientId: ClientId;
  createdAt: Date;
  expiresAt: Date;
  schools: { id: SchoolId; name: string; officialId: string }[];
  steps: { step: SandboxStepName; doneAt: Date | null; expectation: string }[];
};

const sandboxFields = {
  id: true,
  clientId: true,
  createdAt: true,
  expiresAt: true,
  schools: { select: { id: true, name: true, officialId: true }, orderBy: [{ sortKey: "asc" }, { id: "asc" }] },
  steps: { select: { step: true, doneAt: true } },
} satisfies Prisma.SandboxSelect;

function present(sandbox: Prisma.SandboxGetPayload<{ select: typeof sandboxFields }>): Sandbox {
  const doneAt = new Map(sandbox.steps.map((step) => [step.step, step.doneAt]));
  return {
    id: sandbox.id as SandboxId,
    clientId: sandbox.clientId as ClientId,
    createdAt: sandbox.createdAt,
    expiresAt: sandbox.expiresAt,
    schools: sandbox.schools.map((school) => ({ ...school, id: school.id as SchoolId })),
    steps: sandboxSteps.map(({ step, expectation }) => ({ step, doneAt: doneAt.get(step) ?? null, expectation })),
  };
}

/** Errors: not_found sandbox_not_found, also if its app is not `among` these. */
export async function getSandbox({ prisma }: RecordStore, id: string, among?: readonly ClientId[]): Promise<Sandbox> {
  const where = { id, ...(among !== undefined && { clientId: { in: [...among] } }) };
  const sandbox = await prisma.sandbox.findFirst({ where, select: sandboxFields });
  if (sandbox === null) throw new AppError("not_found", "sandbox_not_found", "There is no such sandbox.");
  return present(sandbox);
}

type SandboxFilter = {
  clientId?: ClientId | undefined;
  among?: readonly ClientId[] | undefined;
  limit: number;
  after?: string | undefined;
};

export async function listSandboxes({ prisma }: RecordStore, { clientId, among, limit, after }: SandboxFilter) {
  const sandboxes = await prisma.sandbox.findMany({
    where: {
      AND: [clientId === undefined ? {} : { clientId }, among === undefined ? {} : { clientId: { in: [...among] } }],
      ...(after !== undefined && { id: { lt: after } }),
    },
    select: sandboxFields,
    orderBy: { id: "desc" },
    take: limit,
  });
  return sandboxes.map(present);
}

const s = table("sandbox", "s");

const lockRow = statement<{ id: string }>("sandbox.lock")`SELECT FROM ${s} WHERE ${s.id} = ${"id"} FOR UPDATE`;

/** Locks a sandbox until the end of the transaction. Errors: not_found sandbox_not_found. */
export async function lockSandbox(tx: Transaction, id: SandboxId): Promise<Sandbox> {
  await findRows(tx, lockRow, { id });
  return getSandbox(tx, id);
}
