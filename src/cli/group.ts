import { createGroup, deleteGroup, findGroup, listGroups, renameGroup, restoreGroup } from "../directory/index.ts";
import type { Group, GroupId, GroupType } from "../directory/index.ts";
import { found, inChange, inDatabase } from "./change.ts";
import { makeCommand, type Noun, type Result } from "./command.ts";
import { done, made, updated, defaultLimit, listOptions, listResult, recordLines, type Columns } from "./lines.ts";
import { argument, option, required } from "./option.ts";
import * as far from "./remote/group.ts";
import { refuseHere } from "./admin-api.ts";

const types: readonly GroupType[] = ["KLASSE", "KURS", "SONSTIG"];
const takes = { group: argument.group() };

const columns: Columns<Group> = {
  id: ({ id }) => id,
  status: ({ status }) => status,
  type: ({ type }) => type,
  name: ({ name }) => name,
  members: ({ members }) => String(members),
};

const renamed = (id: GroupId, differs: boolean): Result => updated("Group", id, differs ? ["name"] : []);
const deleted = (id: GroupId): Result => done("Group deleted.", { id, status: "DELETED" });
const restored = (id: GroupId): Result => done("Group restored.", { id, status: "ACTIVE" });

function show(shown: Group): Result {
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

export const group: Noun = {
  verbs: {
    create: makeCommand({
      summary: "Create a group at a school.",
      options: {
        school: required(option.school("Its school.")),
        name: required(option.text("Its name.")),
        type: option.oneOf(types, "Its type; KLASSE if left out."),
        sourceId: option.text("Its identifier in the school's source system, by which imports know it."),
        id: option.id<GroupId>("Its id, where it has one already."),
      },
      run: async (tools, { options: { school: schoolId, name, type = "KLASSE", sourceId, id } }) => {
        const newGroup = { id, schoolId, name, type, sourceSystemIdentifier: sourceId };
        return made(await inChange(tools, (change) => createGroup(change, newGroup)));
      },
      remote: async (remote, { options: { school: schoolId, name, type = "KLASSE", sourceId, id } }) => {
        refuseHere({ id });
        return made(await far.createGroup(remote, { schoolId, name, type, sourceSystemIdentifier: sourceId }));
      },
    }),
    rename: makeCommand({
      summary: "Give a group another name.",
      takes,
      options: { name: required(option.text("The new name.")) },
      run: async (tools, { given: { group: groupId }, options: { name } }) => {
        const differs = await inChange(tools, (change) => renameGroup(change, { groupId, name }));
        return renamed(groupId, differs);
      },
      remote: async (remote, { given: { group: id }, options: { name } }) =>
        renamed(id, await far.renameGroup(remote, id, name)),
    }),
    delete: makeCommand({
      summary: "Delete a group. Its members are kept, and it can be restored.",
      takes,
      run: async (tools, { given: { group: groupId } }) => {
        await inChange(tools, (change) => deleteGroup(change, { groupId }));
        return deleted(groupId);
      },
      remote: async (remote, { given: { group: groupId } }) => {
        await far.deleteGroup(remote, groupId);
        return deleted(groupId);
      },
    }),
    restore: makeCommand({
      summary: "Restore a deleted group with its members.",
      takes,
      run: async (tools, { given: { group: groupId } }) => {
        await inChange(tools, (change) => restoreGroup(change, { groupId }));
        return restored(groupId);
      },
      remote: async (remote, { given: { group: groupId } }) => {
        await far.restoreGroup(remote, groupId);
        return restored(groupId);
      },
    }),
    show: makeCommand({
      summary: "Show one group. Its members: person list --school … --group …",
      takes,
      run: async (tools, { given }) => {
        const group = await inDatabase(tools, (db) => findGroup(db, given.group));
        return show(found(group, "group_not_found", "The group does not exist."));
      },
      remote: async (remote, { given }) => show(await far.findGroup(remote, given.group)),
    }),
    list: makeCommand({
      summary: "List the groups of a school by name.",
      options: {
        school: required(option.school("The school.")),
        withDeleted: option.flag("Show deleted ones too."),
        ...listOptions,
      },
      run: async (tools, { options: { school: schoolId, withDeleted, search, after, limit = defaultLimit } }) => {
        const groups = await inDatabase(tools, (db) =>
          listGroups(db, { schoolId, withDeleted, search, after, limit: limit + 1 }),
        );
        return listResult("groups", groups, limit, columns);
      },
      remote: async (remote, { options: { school: schoolId, withDeleted, search, after, limit = defaultLimit } }) => {
        const groups = await far.listGroups(remote, { schoolId, withDeleted, search, after, limit: limit + 1 });
        return listResult("groups", groups, limit, columns);
      },
    }),
  },
};
