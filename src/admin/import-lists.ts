import type { SchoolId } from "../directory/index.ts";
import {
  findImport,
  listGroupChanges,
  listGroupMoves,
  listLeavers,
  listLookAlikes,
  withDifference,
  type ExistingGroup,
  type GroupChange,
  type ImportId,
  type Leaver,
  type RosterGroup,
} from "../imports/index.ts";
import { present } from "../platform/contract-types.ts";
import { storeOf } from "../platform/database/db.ts";
import type { components } from "../../generated/openapi/admin.ts";
import type { AdminDeps, AdminHandler, AdminRequest } from "./handler.ts";
import { showDifference } from "./import-differences.ts";
import { importReach } from "./import-record.ts";
import { answerPage, readPage, type Page } from "./page.ts";
import { refuseOtherSchool } from "./reached.ts";

type Schemas = components["schemas"];
type Lists = "listImportLeavers" | "listImportChanges" | "listImportLookAlikes" | "listImportGroupMoves";
type Request = AdminRequest<Lists>;
type Entries<Entry, Presented> = {
  at: string;
  reads: "all" | "people";
  find: (tx: Parameters<typeof listLeavers>[0], schoolId: SchoolId, page: Page) => Promise<Entry[]>;
  idOf: (entry: Entry) => string;
  present: (entry: Entry) => Presented;
};

/** Lists a part of the difference of an import to the directory as it is now. */
async function listOfDifference<Entry, Presented>(
  deps: AdminDeps,
  list: Lists,
  request: Request,
  { at, reads, find, idOf, present: show }: Entries<Entry, Presented>,
) {
  const { path, query, origin, reach } = request;
  const page = readPage(deps, list, query);
  const id = path.importId as ImportId;
  const schoolId = query.school as SchoolId | undefined;
  const status = await findImport(storeOf(deps.db), id, importReach(request));
  if (schoolId !== undefined) refuseOtherSchool(reach, schoolId);
  const found = await showDifference(deps, request, (db) =>
    withDifference(db, status, { schoolId, now: origin.at, reads }, (tx, school) => find(tx, school, page)),
  );
  const asked = { list, path: `/admin/v1/imports/${id}/${at}`, query, page };
  return answerPage(deps, asked, { found, idOf, present: show });
}

const listImportLeavers: AdminHandler<"listImportLeavers"> = (deps, request) =>
  listOfDifference(deps, "listImportLeavers", request, {
    at: "leavers",
    reads: "people",
    find: (tx, schoolId, { after, take }) =>
      listLeavers(tx, { schoolId, isKept: request.query.kept, after, limit: take }),
    idOf: ({ id }: Leaver) => id,
    present: ({ id, name, role, sourceSystemIdentifier, classes, losesAccess }) =>
      present<Schemas["ImportLeaver"]>({ id, name, role, sourceSystemIdentifier, classes, losesAccess }),
  });

const listImportChanges: AdminHandler<"listImportChanges"> = (deps, request) =>
  listOfDifference(deps, "listImportChanges", request, {
    at: "changes",
    reads: "all",
    find: (tx, schoolId, { after, take }) => {
      const [sortKey, key] = after === undefined ? [] : (JSON.parse(after) as [string, string]);
      const place = sortKey === undefined || key === undefined ? undefined : { sortKey, key };
      return listGroupChanges(tx, { schoolId, after: place, limit: take });
    },
    idOf: ({ sortKey, key }: GroupChange) => JSON.stringify([sortKey, key]),
    present: ({ groupId, name, previousName, type, sourceSystemIdentifier, step, members }) =>
      present<Schemas["ImportGroupChange"]>({
        groupId,
        name,
        previousName,
        type,
        sourceSystemIdentifier,
        step,
        members: present<Schemas["ImportMemberCounts"]>(members),
      }),
  });

/** The page after the `after`-th entry of a list that is in memory. */
function cut<Entry>(all: readonly Entry[], { after, take }: Page): { entry: Entry; next: string }[] {
  const skip = Number(after ?? 0);
  return all.slice(skip, skip + take).map((entry, index) => ({ entry, next: String(skip + index + 1) }));
}

const presentExisting = ({ groupId, name, sourceSystemIdentifier, members }: ExistingGroup): Schemas["ExistingGroup"] =>
  present<Schemas["ExistingGroup"]>({ groupId, name, sourceSystemIdentifier, members });
const presentOfRoster = ({ name, sourceSystemIdentifier, members }: RosterGroup): Schemas["RosterGroup"] =>
  present<Schemas["RosterGroup"]>({ name, sourceSystemIdentifier, members });

const listImportLookAlikes: AdminHandler<"listImportLookAlikes"> = (deps, request) =>
  listOfDifference(deps, "listImportLookAlikes", request, {
    at: "look-alikes",
    reads: "all",
    find: async (tx, schoolId, page) => cut(await listLookAlikes(tx, schoolId), page),
    idOf: ({ next }) => next,
    present: ({ entry: { type, inRoster, existing } }) =>
      present<Schemas["ImportLookAlike"]>({
        type,
        inRoster: presentOfRoster(inRoster),
        existing: presentExisting(existing),
      }),
  });

const listImportGroupMoves: AdminHandler<"listImportGroupMoves"> = (deps, request) =>
  listOfDifference(deps, "listImportGroupMoves", request, {
    at: "group-moves",
    reads: "all",
    find: async (tx, schoolId, page) => cut(await listGroupMoves(tx, schoolId), page),
    idOf: ({ next }) => next,
    present: ({ entry: { from, to, moving, isCarriedOver } }) =>
      present<Schemas["ImportGroupMove"]>({
        from: presentExisting(from),
        to: presentOfRoster(to),
        moving,
        isCarriedOver,
      }),
  });

export const importListHandlers = { listImportLeavers, listImportChanges, listImportLookAlikes, listImportGroupMoves };
