import type { SchoolId } from "../../directory/index.ts";
import type { SourceFile } from "../read/source.ts";
import { readTable } from "../read/table.ts";
import { detachText } from "../read/text.ts";
import { idLength } from "../read/value.ts";
import { cleanCell } from "./columns.ts";
import { schoolFaults } from "../schools.ts";
import type { ImportMode, ReadContext } from "./format.ts";

export type Orgs = {
  /** Null for an organisation that is not a school, undefined for an unknown one. */
  find(sourcedId: string): SchoolId | null | undefined;
  /** Rows of orgs.csv that have a fault already. */
  readonly faulty: ReadonlySet<string>;
  readonly schools: ReadonlySet<SchoolId>;
};

const maxOrgs = 100_000;

/** Schools match by identifier (the official id), else by sourcedId. */
export async function readOrgs(
  files: ReadonlyMap<string, SourceFile>,
  mode: ImportMode,
  { staging, schools, onBytes }: ReadContext,
): Promise<Orgs> {
  const file = files.get("orgs.csv");
  const known = new Map<string, SchoolId | null>();
  const faulty = new Set<string>();
  const found = new Set<SchoolId>(mode === "BULK" && schools.only !== undefined ? [schools.only] : []);
  if (file !== undefined) {
    await readTable({ file, onBytes, required: ["sourcedId", "type", "identifier"] }, staging, (row) => {
      const sourcedId = detachText(row.need("sourcedId", idLength));
      if (known.size + faulty.size >= maxOrgs)
        return row.fault("sourcedId", "too_many_orgs", `The file names more than ${maxOrgs} organisations.`);
      if (row.get("type").toLowerCase() !== "school") return void known.set(sourcedId, null);
      if (row.get("status").toLowerCase() === "tobedeleted") return void faulty.add(sourcedId);
      const school = schools.choose(row.get("identifier"), sourcedId);
      if (school.id === undefined) {
        row.fault("identifier", school.fault, schoolFaults[school.fault]);
        return void faulty.add(sourcedId);
      }
      schools.noteNames({ texts: [cleanCell(row.get("name"))], numbers: [row.get("identifier") || sourcedId] });
      known.set(sourcedId, school.id);
      found.add(school.id);
    });
  }
  return {
    find(sourcedId) {
      const school = known.get(sourcedId);
      if (school !== undefined || file !== undefined) return school;
      const { id } = schools.choose(sourcedId);
      if (id !== undefined) found.add(id);
      schools.noteNames({ texts: [], numbers: [sourcedId] });
      return id;
    },
    faulty,
    schools: found,
  };
}
