import { sql } from "../../platform/database/sql.ts";
import { baseFields, yearBegins, type Resource } from "./record.ts";

const id = sql`listed.id`;

/** The directory has no demographics, so the list is empty. Some programs fail without it. */
export const demographics: Resource = {
  plural: "demographics",
  single: "demographics",
  fields: (reader) => baseFields(reader, { id, isActive: sql`true`, at: yearBegins(reader) }),
  source: () => ({
    from: sql`(SELECT NULL::uuid AS id) AS listed`,
    where: [sql`false`],
    visible: [],
    id,
    order: id,
    isAfter: sql`false`,
  }),
  keys: id,
  records: () => sql``,
  listedId: id,
  position: sql`''`,
};
