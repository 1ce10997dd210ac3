import type { SchoolId } from "../directory/index.ts";
import { recordAudit, type Origin } from "../events/index.ts";
import { withPrismaTransaction, type PrismaDb } from "../platform/database/db.ts";
import { AppError } from "../platform/errors.ts";
import { run, sql, statement, table, update } from "../platform/database/sql.ts";
import type { ImportStatus } from "./find.ts";
import { holdImport } from "./lease.ts";
import { chooseSchool } from "./listed.ts";
import { setMoves } from "./move-classes.ts";
import { carryOversUnknown, compareImport } from "./preview.ts";
import { checkEvent, getState } from "./states.ts";

type MoveRequest = {
  schoolId: SchoolId | undefined;
  schoolYear: string;
  /** Source ids of the current group and of the roster's group. */
  moves: readonly { from: string; to: string }[];
  holdShare: number;
};

const s = table("stagedGroup", "s");
const clearMoves = statement<{ importId: string; schoolId: string }>(
  ({ importId, schoolId }) => sql`
  ${update("stagedGroup", "s", { previousSourceId: sql`NULL` })}
  WHERE ${s.importId} = ${importId} AND ${s.schoolId} = ${schoolId}`,
);
/** Errors: invalid carried_over_twice, carry_over_unknown; conflict import_running; those of `withDifference`. */
export async function setGroupMoves(
  db: PrismaDb,
  status: ImportStatus,
  { schoolId: requested, schoolYear, moves, holdShare }: MoveRequest,
  origin: Origin,
): Promise<void> {
  const schoolId = chooseSchool(status, requested);
  checkEvent("compare", status);
  const [from, to] = [moves.map((move) => move.from), moves.map((move) => move.to)];
  if (new Set(from).size < from.length || new Set(to).size < to.length)
    throw new AppError("invalid", "carried_over_twice", "A group goes on as one group, and from one group.");
  const importId = status.id;
  await withPrismaTransaction(db, async (tx) => {
    await holdImport(tx, importId);
    checkEvent("compare", { state: await getState(tx, importId) });
    await run(tx, clearMoves, { importId, schoolId });
    const found = await run(tx, setMoves, { importId, schoolId, from, to });
    if (found < moves.length) throw carryOversUnknown(moves.length - found);
    await tx.prisma.import.update({ where: { id: importId }, data: { schoolYear } });
    const detail = { importId, moves: moves.length };
    await recordAudit(tx, { ...origin, action: "import_group_moves_set", schoolId, detail });
  });
  await compareImport(db, { id: importId, schools: [schoolId], holdShare, now: origin.at, isAgain: true });
}
