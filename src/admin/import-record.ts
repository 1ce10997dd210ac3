import type { Counts, ImportFault, ImportReach, ImportStatus } from "../imports/index.ts";
import { remedyOf } from "../imports/index.ts";
import { present } from "../platform/contract-types.ts";
import type { AdminRequest, Schemas } from "./handler.ts";

/** The imports that a caller sees; undefined for all. */
export const importReach = ({
  reach,
  origin,
}: Pick<AdminRequest<"getImport">, "reach" | "origin">): ImportReach | undefined =>
  reach.all ? undefined : { schoolIds: [...reach.schoolIds], actorId: origin.actorId ?? "" };

/** Counts of earlier versions may lack `leftHome`. */
const leaversOf = ({ people }: Counts): number => people.removed + people.left + (people.leftHome ?? 0);

function presentSchool({ id, name, state, counts }: ImportStatus["schools"][number]): Schemas["ImportSchool"] {
  const { people, groups, memberships, before, kept = 0 } = counts;
  return present<Schemas["ImportSchool"]>({
    id,
    name,
    state,
    leavers: leaversOf(counts),
    kept,
    people: present<Schemas["ImportPeopleCounts"]>({ ...people, leftHome: people.leftHome ?? 0 }),
    groups: present<Schemas["ImportGroupCounts"]>(groups),
    memberships: present<Schemas["ImportMembershipCounts"]>(memberships),
    before: present<Schemas["ImportCountsBefore"]>(before),
  });
}

export const countLeavers = ({ schools }: Pick<ImportStatus, "schools">): number =>
  schools.reduce((sum, { counts }) => sum + leaversOf(counts), 0);

export function presentImport(status: ImportStatus): Schemas["Import"] {
  const { id, format, mode, state, progress, fileName, schoolYear, errorCount, notes, createdAt, appliedAt } = status;
  return present<Schemas["Import"]>({
    id,
    format,
    mode,
    state,
    progress,
    fileName,
    errorCount,
    notes,
    leavers: countLeavers(status),
    schoolYear: schoolYear === "" ? null : schoolYear,
    createdAt,
    appliedAt,
    schools: status.schools.map(presentSchool),
  });
}

export const presentFault = ({ file, line, column, field, code, message, text }: ImportFault): Schemas["ImportFault"] =>
  present<Schemas["ImportFault"]>({ file, line, column, field, code, message, text, remedy: remedyOf(code) });
