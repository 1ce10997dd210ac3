import { personNameOf, type PersonRole } from "../directory/index.ts";
import type { WrittenEvent } from "../events/index.ts";
import type { Transaction } from "../platform/database/db.ts";
import { present } from "../platform/contract-types.ts";
import type { Schemas } from "./handler.ts";

export type ViewChange = Schemas["ViewChange"];

const mostNames = 100;

type Way = "enter" | "change" | "leave";
const ways = { create: "enter", restore: "enter", update: "change", delete: "leave" } as const;

const count = (events: readonly WrittenEvent[], type: string, way: Way): number =>
  events.filter((event) => event.type === type && ways[event.action as keyof typeof ways] === way).length;

const countsOf = (events: readonly WrittenEvent[], type: string) =>
  present<Schemas["ViewChangeCounts"]>({
    enter: count(events, type, "enter"),
    change: count(events, type, "change"),
    leave: count(events, type, "leave"),
  });

/** Presents the change for each app, by name; read in the transaction of the change. */
export async function presentViewChanges({ prisma }: Transaction, events: WrittenEvent[]): Promise<ViewChange[]> {
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
