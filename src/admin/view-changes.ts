import { personNameOf, type PersonRole } from "../directory/index.ts";
import type { WrittenEvent } from "../events/index.ts";
import type { Transaction } from "../platform/database/db.ts";
import { makeFind, sql, table } from "../platform/database/sql.ts";
import { present, type Schemas } from "./handler.ts";

export type ViewChange = Schemas["ViewChange"];

const mostNames = 100;

type Way = "enter" | "change" | "leave";
const ways = { create: "enter", restore: "enter", update: "change", delete: "leave" } as const;

const count = (events: readonly WrittenEvent[], type: string, way: Way): number =>
  events.filter((event) => event.type === type && ways[event.action as keyof typeof ways] === way).length;

const countsOf = (events: readonly WrittenEvent[], type: string) =>
  present("ViewChangeCounts", {
    enter: count(events, type, "enter"),
    change: count(events, type, "change"),
    leave: count(events, type, "leave"),
  });

const p = table("person", "p");
const g = table("group", "g");

// A change of what apps saw of a deleted person writes their row too, and leaves its time.
const findDeletedBefore = makeFind<{ id: string }, { ids: readonly string[]; at: Date }>(
  ({ ids, at }) => sql`
  SELECT ${p.id} FROM ${p} WHERE ${p.id} = ANY (${ids}::uuid[]) AND ${p.status} = 'SOFT_DELETED'
    AND (NOT p.xmin = pg_current_xact_id()::xid OR ${p.softDeletedAt} < ${at})
  UNION ALL SELECT ${g.id} FROM ${g} WHERE ${g.id} = ANY (${ids}::uuid[]) AND ${g.status} = 'DELETED'
    AND (NOT g.xmin = pg_current_xact_id()::xid OR ${g.deletedAt} < ${at})`,
  "admin.findDeletedBefore",
);

/** Without what an app sees only as deleted, before or after the change: that neither enters nor leaves. */
async function withoutDeleted(tx: Transaction, events: readonly WrittenEvent[]): Promise<WrittenEvent[]> {
  const keyOf = ({ clientId, subjectId }: WrittenEvent) => `${clientId} ${subjectId}`;
  const keysOf = (action: string) => new Set(events.filter((event) => event.action === action).map(keyOf));
  const [entering, leaving] = [keysOf("create"), keysOf("delete")];
  const leavers = events.filter(({ action }) => action === "delete");
  const query = { ids: leavers.map(({ subjectId }) => subjectId), at: leavers[0]?.at ?? new Date(0) };
  const deleted = new Set((await findDeletedBefore(tx, query)).map(({ id }) => id));
  return events.filter((event) => {
    const isDeletedOnly = entering.has(keyOf(event)) && leaving.has(keyOf(event));
    return !isDeletedOnly && !(event.action === "delete" && deleted.has(event.subjectId));
  });
}

/** Presents the change for each app, by name; read in the transaction of the change. */
export async function presentViewChanges(tx: Transaction, written: WrittenEvent[]): Promise<ViewChange[]> {
  const { prisma } = tx;
  const events = await withoutDeleted(tx, written);
  const apps = await prisma.app.findMany({
    where: { clientId: { in: [...new Set(events.map(({ clientId }) => clientId))] } },
    select: { clientId: true, name: true },
    orderBy: [{ name: "asc" }, { clientId: "asc" }],
  });
  const changes: ViewChange[] = [];
  for (const app of apps) {
    const ofApp = events.filter(({ clientId }) => clientId === app.clientId);
    const idsOf = (way: Way): string[] =>
      ofApp
        .filter(({ type, action }) => type === "person" && ways[action as keyof typeof ways] === way)
        .map(({ subjectId }) => subjectId);
    const rolesOf = async (way: Way): Promise<Schemas["RoleCounts"]> => {
      const ids = idsOf(way);
      const counts = await prisma.person.groupBy({ by: ["role"], where: { id: { in: ids } }, _count: true });
      const countOf = (role: PersonRole) => counts.find((counted) => counted.role === role)?._count ?? 0;
      return { students: countOf("STUDENT"), teachers: countOf("TEACHER"), others: countOf("OTHER") };
    };
    const namesOf = async (way: Way): Promise<Schemas["NamedPerson"][]> => {
      const people = await prisma.person.findMany({
        where: { id: { in: idsOf(way) } },
        select: { id: true, firstFull: true, firstCall: true, last: true },
        orderBy: [{ sortKey: "asc" }, { id: "asc" }],
        take: mostNames,
      });
      return people.map((person) => ({ id: person.id, name: personNameOf(person) }));
    };
    changes.push({
      clientId: app.clientId,
      appName: app.name,
      people: countsOf(ofApp, "person"),
      groups: countsOf(ofApp, "group"),
      schools: countsOf(ofApp, "school"),
      roles: { enter: await rolesOf("enter"), leave: await rolesOf("leave") },
      names: { enter: await namesOf("enter"), leave: await namesOf("leave") },
    });
  }
  return changes;
}
