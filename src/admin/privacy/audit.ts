import type { SchoolId } from "../../directory/index.ts";
import { listAudit as list, personActor, type RecordedAudit } from "../../events/index.ts";
import type { Reach } from "../../staff/index.ts";
import { present, type AdminDeps, type AdminHandler, type Schemas } from "../handler.ts";
import { findNames, readActor, type Names } from "../names.ts";
import { readTime } from "../page.ts";

type Named = Record<string, unknown>;

/** A permanently deleted person stays as `person` in the log, and is not named. */
function presentActor({ actorId, actorRole }: RecordedAudit, withPeople: boolean): Schemas["AuditActor"] {
  const { personId, clientId } = readActor(actorId);
  const isProgram = personId === null && clientId === null && actorId !== "person";
  return present("AuditActor", {
    personId: withPeople ? personId : null,
    clientId,
    program: isProgram ? actorId : null,
    role: (actorRole ?? "NONE") as Schemas["AuditActor"]["role"],
  });
}

const withoutValue = (named: Named, value: string | null): Named =>
  Object.fromEntries(Object.entries(named).filter(([, held]) => value === null || held !== value));

/** `groups` and `files` by the ids of groups and imports. */
type LineNames = {
  actors: Names;
  people: Names;
  groups: ReadonlyMap<string, string>;
  files: ReadonlyMap<string, string>;
};

const subjectsOf = ({ detail }: RecordedAudit): { groupIds: string[]; importId: string | null } => {
  const { groupIds, importId } = detail as { groupIds?: string[]; importId?: string };
  return { groupIds: groupIds ?? [], importId: importId ?? null };
};

/** Returns the names in audit lines; of affected people, only those at schools of the caller. */
export async function findLineNames(
  { db }: Pick<AdminDeps, "db">,
  reach: Reach,
  lines: RecordedAudit[],
): Promise<LineNames> {
  const ofSchool = lines.filter((line) => isOfSchool(reach, line));
  const clientIds = lines.flatMap(({ actorId, clientId }) => [readActor(actorId).clientId, clientId]);
  const atSchools = reach.all ? undefined : reach.schoolIds;
  const subjects = ofSchool.map(subjectsOf);
  const groups = await db.prisma.group.findMany({
    where: {
      id: { in: [...new Set(subjects.flatMap(({ groupIds }) => groupIds))] },
      ...(atSchools && { schoolId: { in: [...atSchools] } }),
    },
    select: { id: true, name: true },
  });
  const imports = await db.prisma.import.findMany({
    where: { id: { in: [...new Set(subjects.flatMap(({ importId }) => importId ?? []))] } },
    select: { id: true, fileName: true },
  });
  return {
    groups: new Map(groups.map(({ id, name }) => [id, name])),
    files: new Map(imports.map(({ id, fileName }) => [id, fileName])),
    actors: await findNames(db, { personIds: ofSchool.map(({ actorId }) => readActor(actorId).personId), clientIds }),
    people: await findNames(db, { personIds: ofSchool.map(({ personId }) => personId), atSchools }),
  };
}

export function presentLine(line: RecordedAudit, withPeople: boolean, names: LineNames): Schemas["AuditLine"] {
  const { clientId, personId } = line;
  const withDifference = withPeople || personId === null;
  const actor = presentActor(line, withPeople);
  const { groupIds, importId } = subjectsOf(line);
  return present("AuditLine", {
    ...line,
    actor,
    personId: withPeople ? personId : null,
    before: withDifference ? (line.before as Named | null) : null,
    after: withDifference ? (line.after as Named | null) : null,
    detail: withoutValue(line.detail as Named, withPeople ? null : personId),
    names: {
      actor: names.actors.ofPerson(actor.personId),
      actorApp: names.actors.ofApp(actor.clientId),
      person: withPeople ? names.people.ofPerson(personId) : null,
      app: names.actors.ofApp(clientId),
      groups: withPeople ? groupIds.flatMap((id) => names.groups.get(id) ?? []) : [],
      file: withPeople && importId !== null ? (names.files.get(importId) ?? null) : null,
    },
  });
}

const isOfSchool = ({ all, schoolIds }: Reach, { schoolId }: RecordedAudit): boolean =>
  all || (schoolId !== null && schoolIds.has(schoolId as SchoolId));

const positionOf = ({ at, id }: RecordedAudit): string => `${at.toISOString()} ${id}`;

function readPosition(position: string | undefined): { at: Date; id: string } | undefined {
  if (position === undefined) return undefined;
  const [at = "", id = ""] = position.split(" ");
  return { at: new Date(at), id };
}

export const listAudit: AdminHandler<"listAudit"> = async (deps, request) => {
  const { query, reach, page } = request;
  const { school, person, actor, app, action, from, until } = query;
  // Lines of an app do not say to its partner whom they are about, nor who it was: chosen by a person, they would.
  const clientIds = person === undefined && actor === undefined ? [...reach.clientIds] : [];
  const lines = await list(deps.db.pool, {
    schoolId: school,
    personId: person,
    clientId: app,
    actorId: actor && personActor(actor),
    action,
    since: readTime(from),
    until: readTime(until),
    limit: page.range.limit,
    among: reach.all ? undefined : { schoolIds: [...reach.schoolIds], clientIds },
    after: readPosition(page.range.after),
    isOldestFirst: query.sort === "oldest",
  });
  const names = await findLineNames(deps, reach, lines);
  return page.answer(lines, (line) => presentLine(line, isOfSchool(reach, line), names), positionOf);
};
