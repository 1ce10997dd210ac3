import type { ClientId } from "../access/index.ts";
import { personNameOf, type PersonId, type PersonName, type SchoolId } from "../directory/index.ts";
import { personActor } from "../events/index.ts";
import type { RecordStore } from "../platform/database/db.ts";
import { appActor } from "./handler.ts";

export type Names = {
  /** Null for an unknown person, and for one without a name. */
  ofPerson(id: string | null): PersonName | null;
  ofApp(id: string | null): string | null;
};

const afterPrefix = (prefix: string, text: string): string | null =>
  text.startsWith(prefix) ? text.slice(prefix.length) : null;

/** Reads an actor of the audit log: a person or an app; neither for a program and for a person who was deleted. */
export const readActor = (actorId: string | null) => ({
  personId: afterPrefix(personActor(""), actorId ?? ""),
  clientId: afterPrefix(appActor(""), actorId ?? ""),
});

export async function findSchoolNames({ prisma }: Pick<RecordStore, "prisma">, ids: readonly string[]) {
  const where = { id: { in: [...new Set(ids)] } };
  const schools = await prisma.school.findMany({ where, select: { id: true, name: true } });
  return new Map(schools.map(({ id, name }) => [id, name]));
}

type NameQuery = {
  personIds?: readonly (string | null)[];
  clientIds?: readonly (string | null)[];
  atSchools?: ReadonlySet<SchoolId> | undefined;
};

const distinct = <Id extends string>(ids: readonly (string | null)[]): Id[] => [
  ...new Set(ids.filter((id): id is Id => id !== null)),
];

export async function findNames(
  { prisma }: Pick<RecordStore, "prisma">,
  { personIds = [], clientIds = [], atSchools }: NameQuery,
): Promise<Names> {
  const people = await prisma.person.findMany({
    where: {
      id: { in: distinct<PersonId>(personIds) },
      ...(atSchools && { affiliations: { some: { schoolId: { in: [...atSchools] } } } }),
    },
    select: { id: true, firstFull: true, firstCall: true, last: true },
  });
  const apps = await prisma.app.findMany({
    where: { clientId: { in: distinct<ClientId>(clientIds) } },
    select: { clientId: true, name: true },
  });
  const names = new Map(people.map((person) => [person.id, personNameOf(person)]));
  const appNames = new Map(apps.map(({ clientId, name }) => [clientId, name]));
  return {
    ofPerson: (id) => (id === null ? null : (names.get(id) ?? null)),
    ofApp: (id) => (id === null ? null : (appNames.get(id) ?? null)),
  };
}
