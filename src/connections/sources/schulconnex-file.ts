import { SourceError } from "./failure.ts";
import { createFile } from "./file.ts";
import type { RosterFile, SourceTools } from "./source.ts";

/** Codes of Schulconnex. */
export type Role = "Lehr" | "Lern" | "NLehr" | "OrgAdmin" | "SorgBer";
export type RosterGroup = { id: string; name: string; type: "Klasse" | "Kurs" | "Sonstig" };
export type GroupOfPerson = { group: RosterGroup; role?: "Lern" | "Lehr" | "KlLeit" };

export type RosterPerson = {
  id: string;
  /** Null if no name is kept. */
  first: string | null;
  /** Without it, nothing is said of the name in use. */
  call?: string | null;
  last: string | null;
  /** Official ids of schools; null for the only school of the import. `name`: what the source calls it. */
  home: string | null;
  contexts: { school: string | null; name: string | null; role: Role; groups: GroupOfPerson[] }[];
};

/** Writes people as Schulconnex personen-info, person by person. Errors: SourceError EMPTY without people. */
export async function writePeople(
  people: AsyncIterable<RosterPerson>,
  tools: Pick<SourceTools, "makeFile" | "signal">,
  fileName: string,
): Promise<RosterFile> {
  const { count, ...file } = await writePersonInfo(people, tools, fileName);
  if (count === 0) throw new SourceError("EMPTY");
  return file;
}

/** The same, also without people; `count` is how many. */
export async function writePersonInfo(
  people: AsyncIterable<RosterPerson>,
  tools: Pick<SourceTools, "makeFile" | "signal">,
  fileName: string,
): Promise<RosterFile & { count: number }> {
  const file = createFile(tools);
  let count = 0;
  await file.write("[");
  for await (const person of people)
    await file.write(`${count++ === 0 ? "" : ","}\n${JSON.stringify(toRecord(person))}`);
  await file.end("\n]\n");
  return { path: file.path, fileName, format: "SCHULCONNEX", count };
}

const toRecord = ({ id, first, call, last, home, contexts }: RosterPerson) => ({
  pid: id,
  person: {
    name: last === null ? null : { vorname: first, ...(call && { rufname: call }), familienname: last },
    stammorganisation: { kennung: home },
  },
  personenkontexte: contexts.map(({ school, name, role, groups }) => ({
    organisation: { kennung: school, name, typ: "Schule" },
    rolle: role,
    gruppen: groups.map(({ group, role: roleInGroup }) => ({
      gruppe: { id: group.id, bezeichnung: group.name, typ: group.type },
      gruppenzugehoerigkeit: { rollen: roleInGroup === undefined ? [] : [roleInGroup] },
    })),
  })),
});
