import { createGroup, deleteGroup, findGroup, listGroups, renameGroup, restoreGroup } from "../directory/index.ts";
import type { GroupId, GroupType, SchoolId } from "../directory/index.ts";
import { done, found, inChange, inDatabase, updated } from "./change.ts";
import { makeCommand, type Noun } from "./command.ts";
import { defaultLimit, groupColumns, listOptions, listResult, recordLines } from "./lines.ts";
import { argument, option, required } from "./option.ts";

const types: readonly GroupType[] = ["KLASSE", "KURS", "SONSTIG"];
const takes = { group: argument.id<GroupId>() };

export const group: Noun = {
  summary: "Groups: classes, courses and others, each of one school.",
  verbs: {
    create: makeCommand({
      summary: "Make a group at a school.",
      options: {
        school: required(option.id<SchoolId>("Its school.")),
        name: required(option.text("Its name.")),
        type: option.oneOf(types, "What it is; KLASSE if left out."),
        sourceId: option.text("Its identifier in the school's source system, by which imports know it."),
        id: option.id<GroupId>("Its id, where it has one already."),
      },
      run: async (tools, { options: { school: schoolId, name, type = "KLASSE", sourceId, id } }) => {
        const made = await inChange(tools, (change) =>
          createGroup(change, { id, schoolId, name, type, sourceSystemIdentifier: sourceId }),
        );
        return done(made, { id: made });
      },
    }),
    rename: makeCommand({
      summary: "Give a group another name.",
      takes,
      options: { name: required(option.text("The new name.")) },
      run: async (tools, { given: { group: groupId }, options: { name } }) => {
        const differs = await inChange(tools, (change) => renameGroup(change, { groupId, name }));
        return updated("group", groupId, differs ? ["name"] : []);
      },
    }),
    delete: makeCommand({
      summary: "Delete a group; its members stay in it for its return.",
      takes,
      run: async (tools, { given: { group: groupId } }) => {
        await inChange(tools, (change) => deleteGroup(change, { groupId }));
        return done("The group is deleted.", { id: groupId, status: "DELETED" });
      },
    }),
    restore: makeCommand({
      summary: "Bring a deleted group back with its members.",
      takes,
      run: async (tools, { given: { group: groupId } }) => {
        await inChange(tools, (change) => restoreGroup(change, { groupId }));
        return done("The group is back.", { id: groupId, status: "ACTIVE" });
      },
    }),
    show: makeCommand({
      summary: "Show one group. Its members: person list --school … --group …",
      takes,
      run: async (tools, { given }) => {
        const shown = found(
          await inDatabase(tools, (db) => findGroup(db, given.group)),
          "group_not_found",
          "The group does not exist.",
        );
        const { id, name, type, status, sourceSystemIdentifier, schoolId, members } = shown;
        return {
          lines: recordLines({
            id,
            name,
            type,
            status,
            "source id": sourceSystemIdentifier,
            school: schoolId,
            members: String(members),
          }),
          data: shown,
        };
      },
    }),
    list: makeCommand({
      summary: "List the groups of a school by name.",
      options: {
        school: required(option.id<SchoolId>("The school.")),
        withDeleted: option.flag("Show deleted ones too."),
        ...listOptions,
      },
      run: async (tools, { options: { school: schoolId, withDeleted, search, after, limit = defaultLimit } }) => {
        const groups = await inDatabase(tools, (db) =>
          listGroups(db, { schoolId, withDeleted, search, after, limit: limit + 1 }),
        );
        return listResult("groups", groups, limit, groupColumns);
      },
    }),
  },
};
