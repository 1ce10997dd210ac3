import { listFirst, omitUndefined, type Schemas } from "./admin-api.ts";
import { makeApiCommand, type Verbs } from "./command.ts";
import { defaultLimit, wholeList, type Columns } from "./lines.ts";
import { option } from "./option.ts";

type AuditLine = Schemas["AuditLine"];

function nameActor({ personId, clientId, program }: AuditLine["actor"]): string | null {
  if (personId !== null) return `person:${personId}`;
  return clientId === null ? program : `app:${clientId}`;
}

const columns: Columns<AuditLine> = {
  at: ({ at }) => at,
  action: ({ action }) => action,
  by: ({ actor }) => nameActor(actor),
  app: ({ clientId }) => clientId,
  school: ({ schoolId }) => schoolId,
  person: ({ personId }) => personId,
  detail: ({ detail }) => JSON.stringify(detail),
};

export const verbs: Verbs = {
  list: makeApiCommand({
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
    run: async ({ api }, { options: { by: actor, since, limit = defaultLimit, ...about } }) => {
      const query = omitUndefined({ ...about, actor, from: since?.toISOString() });
      const read = (page: object) => api.GET("/admin/v1/audit", { params: { query: { ...query, ...page } } });
      const lines = await listFirst(read, { limit });
      return { ...wholeList("audit lines", lines, { columns, id: ({ id }) => id }), data: { lines } };
    },
  }),
};
