import { hasManySchools, listProposedTeachers, type PageView, type PageRequest } from "../frame/index.ts";
import { importAddress, listAddress, partOf, readImport, type Import, type ImportSchool } from "./import-record.ts";
import { showMoves } from "./moves.ts";
import { scopeChoiceOf } from "./scope.ts";

export async function showImport(request: PageRequest): Promise<PageView> {
  const { path, t } = request;
  const read = await readImport(request);
  const school = partOf(read, request);
  const isWaiting = read.state === "READY" || read.state === "HELD";
  const model = {
    base: importAddress(request),
    list: listAddress(request),
    school,
    schoolId: path.schoolId,
    read,
    stage: stageOf(read),
    scope: scopeChoiceOf(read),
    figures: school === null ? [] : figuresOf(school),
    notes: Object.entries(read.notes),
    lists: [...(isWaiting && school !== null ? listsOf(school, read.warningCount) : []), ...leftOutOf(read)],
    moves: school !== null && hasMoves(read, school) ? await showMoves(request) : [],
    others: othersOf(read, request),
    teachers: read.state === "APPLIED" ? await listProposedTeachers(request) : [],
    isDone: read.state === "APPLIED" || read.state === "UNDONE",
    mayImport: request.may("applyImport"),
  };
  return { title: t("import.title"), view: "import", model };
}

/** The state, or APPLYING, UNDOING or WAITING while it is being applied, undone or queued. */
const stageOf = ({ state, progress }: Import) =>
  progress?.phase === "APPLYING" || progress?.phase === "UNDOING" || progress?.phase === "WAITING"
    ? progress.phase
    : state;

function figuresOf({ people, groups, memberships, leavers, kept }: ImportSchool): [name: string, count: number][] {
  const { created, changed, restored, joined } = people;
  const figures = {
    created,
    joined,
    restored,
    changed,
    leavers,
    kept,
    groupsCreated: groups.created,
    groupsRestored: groups.restored,
    groupsChanged: groups.changed,
    groupsCarriedOver: groups.carriedOver,
    groupsRemoved: groups.removed,
    memberships: memberships.created + memberships.changed + memberships.removed,
  };
  return Object.entries(figures).filter(([, count]) => count > 0);
}

const leftOutOf = ({ state, rows }: Import): string[] => (rows !== null && state !== "BROKEN" ? ["left-out"] : []);

const hasMoves = ({ state }: Import, { groups, memberships }: ImportSchool): boolean =>
  state === "APPLIED"
    ? groups.carriedOver > 0
    : (state === "READY" || state === "HELD") &&
      (groups.carriedOver > 0 || groups.removed > 0 || memberships.removed > 0);

function listsOf({ groups, memberships, leavers, kept }: ImportSchool, warnings: number): string[] {
  const changesGroups = Object.values(groups).some((count) => count > 0);
  const changesMembers = Object.values(memberships).some((count) => count > 0);
  return [
    ...(warnings > 0 ? ["warnings"] : []),
    ...(leavers > 0 ? ["leavers"] : []),
    ...(kept > 0 ? ["kept"] : []),
    ...(groups.created > 0 ? ["look-alikes"] : []),
    ...(changesGroups || changesMembers || leavers > 0 ? ["changes"] : []),
  ];
}

function othersOf(
  { id, schools }: Import,
  request: PageRequest,
): { address: string; name: string | null; leavers: number }[] {
  if (!hasManySchools(request)) return [];
  return schools
    .filter((school) => school.id !== request.path.schoolId)
    .map((school) => ({
      address: `/admin/schools/${school.id}/imports/${id}`,
      name: request.me.schools.find((known) => known.id === school.id)?.name ?? null,
      leavers: school.leavers,
    }));
}
