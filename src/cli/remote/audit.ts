import type { RecordedAudit } from "../../events/index.ts";
import { firstEntries, given, type Remote, type Schemas } from "../admin-api.ts";

function actorIdOf({ personId, clientId, program }: Schemas["AuditActor"]): string | null {
  if (personId !== null) return `person:${personId}`;
  return clientId === null ? program : `app:${clientId}`;
}

/** Shape: fields in the order in which they are printed. */
const lineOf = (line: Schemas["AuditLine"]): RecordedAudit => ({
  id: line.id,
  at: new Date(line.at),
  action: line.action,
  actorId: actorIdOf(line.actor),
  clientId: line.clientId,
  personId: line.personId,
  schoolId: line.schoolId,
  requestId: line.requestId,
  detail: line.detail,
  actorRole: line.actor.role,
  before: line.before,
  after: line.after,
});

type Asked = {
  personId: string | undefined;
  by: string | undefined;
  schoolId: string | undefined;
  clientId: string | undefined;
  action: string | undefined;
  since: Date | undefined;
  limit: number;
};

export async function listAudit({ api }: Remote, asked: Asked): Promise<RecordedAudit[]> {
  const { personId, by, schoolId, clientId, action, since, limit } = asked;
  const about = { person: personId, actor: by, school: schoolId, app: clientId, action, from: since?.toISOString() };
  const read = (page: object) => api.GET("/admin/v1/audit", { params: { query: { ...given(about), ...page } } });
  return (await firstEntries(read, { limit })).map(lineOf);
}
