import type { GroupId } from "../directory/index.ts";
import {
  bodyOf,
  omitUndefined,
  readListResult,
  requireMachine,
  makeBody,
  withIdempotencyKey,
  updateRecord,
  type Schemas,
} from "./admin-api.ts";
import { makeApiCommand, type Noun, type Result } from "./command.ts";
import { done, made, updated, listOptions, recordLines, type Columns } from "./lines.ts";
import { argument, option, required } from "./option.ts";

type AdminGroup = Schemas["AdminGroup"];

const types: readonly AdminGroup["type"][] = ["KLASSE", "KURS", "SONSTIG"];
const args = { group: argument.group() };

const columns: Columns<AdminGroup> = {
  id: ({ id }) => id,
  status: ({ status }) => status,
  type: ({ type }) => type,
  name: ({ name }) => name,
  members: ({ members }) => String(members),
};

const deleted = (id: GroupId): Result => done("Group deleted.", { id, status: "DELETED" });
const restored = (id: GroupId): Result => done("Group restored.", { id, status: "ACTIVE" });

function show(shown: AdminGroup): Result {
  const { id, name, type, status, sourceSystemIdentifier, schoolId, members } = shown;
  const lines = recordLines({
    id,
    name,
    type,
    status,
    "source id": sourceSystemIdentifier,
    school: schoolId,
    members: String(members),
  });
  return { lines, quiet: [id], data: shown };
}

const oneGroup = "/admin/v1/groups/{groupId}";

export const group: Noun = {
  verbs: {
    create: makeApiCommand({
      summary: "Create a group at a school.",
      options: {
        school: required(option.school("Its school.")),
        name: required(option.text("Its name.")),
        type: option.oneOf(types, "Its type; KLASSE if left out."),
        sourceId: option.text("Its identifier in the school's source system, by which imports know it."),
        id: option.id<GroupId>("Its id, where it has one already."),
      },
      run: async (service, { options: { school: schoolId, name, type = "KLASSE", sourceId, id } }) => {
        const body = makeBody<Schemas["NewGroup"]>({ schoolId, name, type, sourceSystemIdentifier: sourceId });
        if (id !== undefined) {
          const { createGroupWithId } = await import("./own-ids.ts");
          return made(await createGroupWithId(requireMachine(service, { id }), id, body));
        }
        return made((await bodyOf(service.api.POST("/admin/v1/groups", { params: withIdempotencyKey(), body }))).id);
      },
    }),
    rename: makeApiCommand({
      summary: "Give a group another name.",
      args,
      options: { name: required(option.text("The new name.")) },
      run: async ({ api }, { args: { group: groupId }, options: { name } }) => {
        const path = { groupId };
        const body = makeBody<Schemas["GroupUpdate"]>({ name });
        const changed = await updateRecord({
          read: () => api.GET(oneGroup, { params: { path } }),
          change: (_before, header) => api.PATCH(oneGroup, { params: { path, header }, body }),
        });
        return updated("Group", groupId, changed);
      },
    }),
    delete: makeApiCommand({
      summary: "Delete a group. Its members are kept, and it can be restored.",
      args,
      run: async ({ api }, { args: { group: groupId } }) => {
        await api.DELETE(oneGroup, { params: { path: { groupId } } });
        return deleted(groupId);
      },
    }),
    restore: makeApiCommand({
      summary: "Restore a deleted group with its members.",
      args,
      run: async ({ api }, { args: { group: groupId } }) => {
        await api.POST(`${oneGroup}/restoration`, { params: { path: { groupId } } });
        return restored(groupId);
      },
    }),
    show: makeApiCommand({
      summary: "Show one group. Its members: person list --school … --group …",
      args,
      run: async ({ api }, { args: { group: groupId } }) =>
        show(await bodyOf(api.GET(oneGroup, { params: { path: { groupId } } }))),
    }),
    list: makeApiCommand({
      summary: "List the groups of a school by name.",
      options: {
        school: required(option.school("The school.")),
        withDeleted: option.flag("Show deleted ones too."),
        ...listOptions,
      },
      run: ({ api }, { options: { school, withDeleted, search, ...part } }) => {
        const query = { school, "show-deleted": withDeleted, ...omitUndefined({ search }) };
        const read = (page: object) => api.GET("/admin/v1/groups", { params: { query: { ...query, ...page } } });
        return readListResult("groups", read, { ...part, columns });
      },
    }),
  },
};
