import type { AdminSchemas } from "../../admin/index.ts";
import { makePage, hasManySchools, listProposedTeachers, type PageView, type PageRequest } from "../frame/index.ts";
import { partOf, readImport, type Import, type ImportSchool } from "./import-record.ts";
import { countKinds } from "./people.ts";
import { scopeChoiceOf } from "./list.ts";
import { showMoves } from "./steps.ts";

export async function showImport(request: PageRequest): Promise<PageView> {
  const { t } = request;
  const read = await readImport(request);
  const school = partOf(read, request);
  const isWaiting = read.state === "READY" || read.state === "HELD";
  return makePage("import", t("import.title"), {
    school,
    read,
    stage: stageOf(read),
    scope: scopeChoiceOf(read),
    isWaiting,
    figures: school === null ? [] : figuresOf(school),
    listsOfHolds,
    notes: Object.entries(read.notes),
    lists: [...(isWaiting && school !== null ? listsOf(school, read.warningCount) : []), ...leftOutOf(read)],
    moves: school !== null && hasMoves(read, school) ? await showMoves(request) : [],
    others: othersOf(read, request),
    teachers: read.state === "APPLIED" ? await listProposedTeachers(request) : [],
    isDone: read.state === "APPLIED" || read.state === "UNDONE",
  });
}

/** The state, or APPLYING, UNDOING or WAITING while it is being applied, undone or queued. */
const stageOf = ({ state, progress }: Import) =>
  progress?.phase === "APPLYING" || progress?.phase === "UNDOING" || progress?.phase === "WAITING"
    ? progress.phase
    : state;

const listsOfHolds: Record<AdminSchemas["ImportHoldReason"], string | null> = {
  LEAVERS: "people?kind=LEAVING",
  GROUPS_ENDED: "changes",
  NAMES_CHANGED: "people?kind=RENAMED",
  CLASSES_LEFT: "changes?losing=yes",
  CLASSES_ENDED: "changes?losing=yes",
  OTHER_SCHOOL: null,
};

const kinds = [
  ...(["NEW", "JOINING", "RESTORED", "CHANGED", "RENAMED", "LEAVING", "KEPT"] as const),
  ...(["CLASSES_CHANGED", "WITHOUT_CLASS"] as const),
];
const steps = ["created", "restored", "changed", "carriedOver", "removed"] as const;

/** The numbers of what changes, each with the list that has whom or what it counts. */
function figuresOf(school: ImportSchool) {
  const { groups, memberships, lists } = school;
  const members = memberships.created + memberships.changed + memberships.removed;
  const counts = new Map<string, number>(countKinds(school));
  const figures: readonly (readonly [name: string, count: number, list: string])[] = [
    ...kinds.map((kind) => [kind.toLowerCase(), counts.get(kind)!, `people?kind=${kind}`] as const),
    ...steps.map((step) => [`groups.${step}`, groups[step], "changes"] as const),
    ["losingClasses", lists.losingClasses, "changes?losing=yes"],
    ["memberships", members, "changes"],
  ];
  return figures.filter(([, count]) => count > 0).map(([name, count, list]) => ({ name, count, list }));
}

const leftOutOf = ({ state, rows }: Import): string[] => (rows !== null && state !== "BROKEN" ? ["left-out"] : []);

const hasMoves = ({ state }: Import, { groups, memberships }: ImportSchool): boolean =>
  state === "APPLIED"
    ? groups.carriedOver > 0
    : (state === "READY" || state === "HELD") &&
      (groups.carriedOver > 0 || groups.removed > 0 || memberships.removed > 0);

function listsOf(school: ImportSchool, warnings: number): string[] {
  const { groups, memberships, leavers } = school;
  const changesGroups = Object.values(groups).some((count) => count > 0);
  const changesMembers = Object.values(memberships).some((count) => count > 0);
  return [
    ...(warnings > 0 ? ["warnings"] : []),
    ...(countKinds(school).some(([, count]) => count > 0) ? ["people"] : []),
    ...(groups.created > 0 ? ["look-alikes"] : []),
    ...(changesGroups || changesMembers || leavers > 0 ? ["changes"] : []),
  ];
}

function othersOf({ id, schools }: Import, request: PageRequest) {
  if (!hasManySchools(request)) return [];
  return schools
    .filter((school) => school.id !== request.path.schoolId)
    .map((school) => ({
      address: `/admin/schools/${school.id}/imports/${id}`,
      name: request.me.schools.find((known) => known.id === school.id)?.name ?? null,
      leavers: school.leavers,
      isOutdated: school.isOutdated,
    }));
}
