import type { Schemas } from "./admin-api.ts";
import type { Result } from "./command.ts";
import type { Extensions } from "./contract-commands.ts";
import { nameOf, recordLines } from "./lines.ts";

const show = (request: Schemas["DataRequest"]): Result => ({
  lines: recordLines({
    id: request.id,
    person: request.person && `${nameOf(request.person.name)} (${request.person.id})`,
    "asked by": request.askedBy,
    received: request.receivedOn,
    due: request.daysLeft === null ? request.dueOn : `${request.dueOn} (${request.daysLeft} days left)`,
    extension: request.extension,
    exported: request.exportedAt,
    outcome: request.outcome,
    closed: request.closedAt,
  }),
  quiet: [request.id],
  data: request,
});

export const extensions: Extensions = { show: { print: show } };
