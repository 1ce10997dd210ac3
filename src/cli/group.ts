import type { GroupId } from "../directory/index.ts";
import { bodyOf, makeBody, omitUndefined, readListResult, requireMachine, updateRecord } from "./admin-api.ts";
import { withIdempotencyKey, type Schemas } from "./admin-api.ts";
import { makeApiCommand, type Result, type Verbs } from "./command.ts";
import { listOptions, made, recordLines, updated } from "./lines.ts";
import { option, required } from "./option.ts";
import { argsOf, changes, shows } from "./verbs.ts";

type AdminGroup = Schemas["AdminGroup"];
type ClassSignIns = Schemas["ClassSignIns"];

const groups = "/admin/v1/groups";
const oneGroup = `${groups}/{groupId}` as const;

function show(group: AdminGroup): Result {
  const { id, name, type, status, sourceSystemIdentifier, schoolId, members } = group;
  const ids = { "source id": sourceSystemIdentifier, school: schoolId };
  return {
    lines: recordLines({ id, name, type, status, ...ids, members: String(members) }),
    quiet: [id],
    data: group,
  };
}

export const verbs: Verbs = {
  create: makeApiCommand({
    summary: "Create a group at a school.",
    options: {
      school: required(option.school("Its school.")),
      name: required(option.text("Its name.")),
      type: option.oneOf<AdminGroup["type"]>(["KLASSE", "KURS", "SONSTIG"], "Its type; KLASSE if left out."),
      sourceId: option.text("Its identifier in the school's source system, by which imports know it."),
      id: option.id<GroupId>("Its id, where it has one already."),
    },
    run: async (service, { options: { school: schoolId, name, type = "KLASSE", sourceId, id } }) => {
      const body = makeBody<Schemas["GroupInput"]>({ schoolId, name, type, sourceSystemIdentifier: sourceId });
      if (id !== undefined) {
        const { createGroupWithId } = await import("./local/own-ids.ts");
        return made(await createGroupWithId(requireMachine(service, { id }), id, body));
      }
      return made((await bodyOf(service.api.POST(groups, { params: withIdempotencyKey(), body }))).id);
    },
  }),
  rename: makeApiCommand({
    summary: "Give a group another name.",
    args: argsOf(oneGroup),
    options: { name: required(option.text("The new name.")) },
    run: async ({ api }, { args: path, options: { name } }) => {
      const changed = await updateRecord({
        read: () => api.GET(oneGroup, { params: { path } }),
        change: (_before, header) =>
          api.PATCH(oneGroup, { params: { path, header }, body: makeBody<Schemas["GroupUpdate"]>({ name }) }),
      });
      return updated("Group", path.groupId, changed);
    },
  }),
  delete: changes("delete", oneGroup, {
    summary: "Delete a group. Its members are kept, and it can be restored.",
    line: "Group deleted.",
    data: ({ groupId: id }) => ({ id, status: "DELETED" }),
  }),
  restore: changes("post", `${oneGroup}/restoration`, {
    summary: "Restore a deleted group with its members.",
    line: "Group restored.",
    data: ({ groupId: id }) => ({ id, status: "ACTIVE" }),
  }),
  show: shows(oneGroup, { summary: "Show one group. Its members: person list --school … --group …", show }),
  list: makeApiCommand({
    summary: "List the groups of a school by name.",
    options: {
      school: required(option.school("The school.")),
      withDeleted: option.flag("Show deleted ones too."),
      ...listOptions,
    },
    run: ({ api }, { options: { school, withDeleted, search, ...page } }) => {
      const query = { school, "show-deleted": withDeleted, ...omitUndefined({ search }) };
      const read = (page: object) => api.GET(groups, { params: { query: { ...query, ...page } } });
      const columns = {
        id: ({ id }: AdminGroup) => id,
        status: ({ status }: AdminGroup) => status,
        type: ({ type }: AdminGroup) => type,
        name: ({ name }: AdminGroup) => name,
        members: ({ members }: AdminGroup) => String(members),
      };
      return readListResult("groups", read, { ...page, columns });
    },
  }),
  "sign-ins": makeApiCommand({
    summary: "Count for each class of a school who has never signed in, and who cannot.",
    options: { school: required(option.school("The school.")), ...listOptions },
    run: ({ api }, { options: { school: schoolId, search, ...page } }) => {
      const at = "/admin/v1/schools/{schoolId}/class-sign-ins";
      const read = (range: object) =>
        api.GET(at, { params: { path: { schoolId }, query: { ...omitUndefined({ search }), ...range } } });
      const columns = {
        id: ({ id }: ClassSignIns) => id,
        class: ({ name }: ClassSignIns) => name,
        pupils: ({ students }: ClassSignIns) => String(students),
        "never signed in": ({ neverSignedIn }: ClassSignIns) => String(neverSignedIn),
        "cannot sign in": ({ withoutLogin }: ClassSignIns) => String(withoutLogin),
      };
      return readListResult("classes", read, { ...page, columns });
    },
  }),
};
