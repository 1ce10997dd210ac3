import { once } from "node:events";
import { createWriteStream } from "node:fs";
import { finished } from "node:stream/promises";
import { SourceError } from "./failure.ts";
import type { RosterFile, SourceTools } from "./source.ts";

/** Codes of Schulconnex. */
export type Role = "Lehr" | "Lern" | "NLehr" | "OrgAdmin" | "SorgBer";
export type RosterGroup = { id: string; name: string; type: "Klasse" | "Kurs" | "Sonstig" };
export type GroupOfPerson = { group: RosterGroup; role?: "Lern" | "Lehr" | "KlLeit" };

export type RosterPerson = {
  id: string;
  first: string;
  last: string;
  /** Official ids of schools; null for the only school of the import. `name`: what the source calls it. */
  home: string | null;
  contexts: { school: string | null; name: string | null; role: Role; groups: GroupOfPerson[] }[];
};

/** Writes people as Schulconnex personen-info, person by person. Errors: SourceError EMPTY without people. */
export async function writePeople(
  people: AsyncIterable<RosterPerson>,
  { makeFile, signal }: Pick<SourceTools, "makeFile" | "signal">,
  fileName: string,
): Promise<RosterFile> {
  const path = makeFile();
  const stream = createWriteStream(path, { flags: "wx", mode: 0o600 });
  // Seen at the end.
  stream.on("error", () => undefined);
  let separator = "[\n";
  for await (const person of people) {
    if (!stream.write(separator + JSON.stringify(toRecord(person)))) await once(stream, "drain", { signal });
    separator = ",\n";
  }
  stream.end("\n]\n");
  await finished(stream);
  if (separator === "[\n") throw new SourceError("EMPTY");
  return { path, fileName, format: "SCHULCONNEX" };
}

const toRecord = ({ id, first, last, home, contexts }: RosterPerson) => ({
  pid: id,
  person: { name: { vorname: first, familienname: last }, stammorganisation: { kennung: home } },
  personenkontexte: contexts.map(({ school, name, role, groups }) => ({
    organisation: { kennung: school, name, typ: "Schule" },
    rolle: role,
    gruppen: groups.map(({ group, role: roleInGroup }) => ({
      gruppe: { id: group.id, bezeichnung: group.name, typ: group.type },
      gruppenzugehoerigkeit: { rollen: roleInGroup === undefined ? [] : [roleInGroup] },
    })),
  })),
});
