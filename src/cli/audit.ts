import { listAudit, personActor, type RecordedAudit } from "../events/index.ts";
import { inDatabase } from "./change.ts";
import { makeCommand, type Noun, type Result } from "./command.ts";
import { defaultLimit, wholeList, type Columns } from "./lines.ts";
import { option } from "./option.ts";
import * as far from "./remote/audit.ts";

const columns: Columns<RecordedAudit> = {
  at: ({ at }) => at.toISOString(),
  action: ({ action }) => action,
  by: ({ actorId }) => actorId,
  app: ({ clientId }) => clientId,
  school: ({ schoolId }) => schoolId,
  person: ({ personId }) => personId,
  detail: ({ detail }) => JSON.stringify(detail),
};

const show = (lines: readonly RecordedAudit[]): Result => ({
  ...wholeList("audit lines", lines, { columns, id: ({ id }) => id }),
  data: { lines },
});

export const audit: Noun = {
  verbs: {
    list: makeCommand({
      summary: "List audit lines, the newest first.",
      options: {
        person: option.person("Only lines about this person."),
        by: option.person("Only lines of what this person did."),
        school: option.school("Only lines about this school."),
        app: option.text("Only lines about this app.", "client-id"),
        action: option.text("Only this action, such as school_created.", "action"),
        since: option.time("Only lines of this time or later."),
        limit: option.count(`How many at most; ${defaultLimit} if left out.`),
      },
      run: async (tools, { options: { person, by, school, app, action, since, limit = defaultLimit } }) => {
        const actorId = by && personActor(by);
        const filter = { personId: person, actorId, schoolId: school, clientId: app, action, since, limit };
        return show(await inDatabase(tools, (_db, whole) => listAudit(whole, filter)));
      },
      remote: async (remote, { options: { person, by, school, app, action, since, limit = defaultLimit } }) =>
        show(
          await far.listAudit(remote, { personId: person, by, schoolId: school, clientId: app, action, since, limit }),
        ),
    }),
  },
};
