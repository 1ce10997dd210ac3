import type { Schemas } from "./admin-api.ts";
import type { Extensions } from "./contract-commands.ts";
import type { Columns } from "./lines.ts";

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

export const extensions: Extensions = { list: { columns } };
