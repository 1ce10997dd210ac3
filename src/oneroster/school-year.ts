import { createHash } from "node:crypto";
import { literal, sql, type Sql, type Value } from "../platform/database/sql.ts";

/** A school year, from 1 August to 31 July in every state, and its one term, which lasts as long. */
export type SchoolYear = {
  title: string;
  starts: string;
  ends: string;
  lastYear: string;
  yearId: string;
  termId: string;
};

export function schoolYearAt(now: Date): SchoolYear {
  const first = now.getUTCFullYear() - (now.getUTCMonth() < 7 ? 1 : 0);
  return {
    title: `${first}/${String(first + 1).slice(-2)}`,
    starts: `${first}-08-01`,
    ends: `${first + 1}-07-31`,
    lastYear: String(first + 1),
    yearId: derivedId(`schoolYear ${first}`),
    termId: derivedId(`term ${first}`),
  };
}

/** The same as `derivedIdOf`. */
function derivedId(text: string): string {
  const digits = createHash("md5").update(text).digest("hex");
  return digits.replace(/^(.{8})(.{4})(.{4})(.{4})/, "$1-$2-$3-$4-");
}

/** SQL value: the id of a record that is derived from another one. */
export const derivedIdOf = (kind: "course", id: Value): Sql => sql`md5(${literal(`${kind} `)} || ${id})::uuid`;
