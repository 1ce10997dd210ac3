import { isDeepStrictEqual } from "node:util";

export type PersonRecord = Readonly<Record<string, unknown>> & { id: string };

/**
 * What the service acknowledged of a person.
 *
 * Shape: `unanswered` are fields of changes without an answer, of which nobody knows whether they were made.
 */
export type Acknowledged = { record: PersonRecord; unanswered: Readonly<Record<string, unknown>>[] };

/** Compares a record with what was acknowledged, field by field. Shape: one line for each that differs. */
export function findDifferences({ record, unanswered }: Acknowledged, found: PersonRecord | null): string[] {
  if (found === null) return [`${record.id} is lost`];
  return Object.entries(record).flatMap(([field, value]) => {
    const possible = [value, ...unanswered.flatMap((fields) => (field in fields ? [fields[field]] : []))];
    if (possible.some((one) => isDeepStrictEqual(one, found[field]))) return [];
    return [`${record.id}: ${field} is ${JSON.stringify(found[field])} instead of ${JSON.stringify(value)}`];
  });
}

/** What the API of apps shows of a record of the staff. */
export const viewOfApp = ({ id, role, name, groups }: PersonRecord): PersonRecord => ({
  id,
  role,
  name,
  groups: (groups as { id: string }[]).map((group) => group.id).toSorted(),
});
