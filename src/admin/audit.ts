import type { SchoolId } from "../directory/index.ts";
import { listAudit as list, personActor, type RecordedAudit } from "../events/index.ts";
import { present } from "../platform/contract-types.ts";
import { AppError } from "../platform/errors.ts";
import type { Reach } from "../staff/index.ts";
import type { components } from "../../generated/openapi/admin.ts";
import { appActor, type AdminHandler } from "./handler.ts";
import { answerPage, readPage } from "./page.ts";
import { readChosen } from "./reached.ts";

type Schemas = components["schemas"];
type Named = Record<string, unknown>;

const behind = (prefix: string, actorId: string): string | null =>
  actorId.startsWith(prefix) ? actorId.slice(prefix.length) : null;

/** Who did it. Shape: a person who was deleted for good stays as `person` in the log, and is nobody here. */
function presentActor({ actorId, actorRole }: RecordedAudit, withPeople: boolean): Schemas["AuditActor"] {
  const [personId, clientId] = [behind(personActor(""), actorId ?? ""), behind(appActor(""), actorId ?? "")];
  const isProgram = personId === null && clientId === null && actorId !== "person";
  return present<Schemas["AuditActor"]>({
    personId: withPeople ? personId : null,
    clientId,
    program: isProgram ? actorId : null,
    role: actorRole as Schemas["AuditActor"]["role"],
  });
}

const withoutValue = (named: Named, value: string | null): Named =>
  Object.fromEntries(Object.entries(named).filter(([, held]) => value === null || held !== value));

function presentLine(line: RecordedAudit, withPeople: boolean): Schemas["AuditLine"] {
  const { id, at, action, clientId, personId, schoolId, requestId } = line;
  const withDifference = withPeople || personId === null;
  return present<Schemas["AuditLine"]>({
    id,
    at: at.toISOString(),
    action,
    actor: presentActor(line, withPeople),
    clientId,
    schoolId,
    requestId,
    personId: withPeople ? personId : null,
    before: withDifference ? (line.before as Named | null) : null,
    after: withDifference ? (line.after as Named | null) : null,
    detail: withoutValue(line.detail as Named, withPeople ? null : personId),
  });
}

/** Whether the caller reaches a line through a school, and not only through an app. */
const isOfSchool = ({ all, schoolIds }: Reach, { schoolId }: RecordedAudit): boolean =>
  all || (schoolId !== null && schoolIds.has(schoolId as SchoolId));

/** The place in the list behind which the next page begins. */
const placeOf = ({ at, id }: RecordedAudit): string => `${at.toISOString()} ${id}`;

function readPlace(place: string | undefined): { at: Date; id: string } | undefined {
  if (place === undefined) return undefined;
  const [at = "", id = ""] = place.split(" ");
  return { at: new Date(at), id };
}

const readTime = (text: string | undefined): Date | undefined => {
  if (text === undefined) return undefined;
  const time = new Date(text);
  if (Number.isNaN(time.getTime())) throw new AppError("invalid", "invalid_request", "The time does not exist.");
  return time;
};

const listAudit: AdminHandler<"listAudit"> = async (deps, { query, reach }) => {
  const { school, person, app, action, from, until } = query;
  const page = readPage(deps, "listAudit", query);
  const chosen = await readChosen(deps.db, reach, { school, person, app });
  // Lines of an app do not say to its partner whom they are about: chosen by a person, they would.
  const clientIds = person === undefined ? [...reach.clientIds] : [];
  const found = await list(deps.db, {
    ...{ ...chosen, action, since: readTime(from), until: readTime(until), limit: page.take },
    ...{ among: reach.all ? undefined : { schoolIds: [...reach.schoolIds], clientIds }, after: readPlace(page.after) },
  });
  return answerPage(
    deps,
    { list: "listAudit", path: "/admin/v1/audit", query, page },
    { found, idOf: placeOf, present: (line) => presentLine(line, isOfSchool(reach, line)) },
  );
};

export const auditHandlers = { listAudit };
