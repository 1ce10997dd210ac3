import type { PersonId } from "../directory/index.ts";
import { listPersonImports as list, type PersonImport } from "../imports/index.ts";
import { present } from "../platform/contract-types.ts";
import type { Reach } from "../staff/index.ts";
import type { components } from "../../generated/openapi/admin.ts";
import type { AdminHandler } from "./handler.ts";
import { answerPage, readPage } from "./page.ts";
import { getReachedPerson } from "./whose-person.ts";

type Schemas = components["schemas"];

export const presentPersonImport = ({ importId, schoolId, at, change, classes }: PersonImport) =>
  present<Schemas["PersonImport"]>({
    importId,
    schoolId,
    change,
    at: at.toISOString(),
    classesBefore: classes?.before ?? null,
    classesAfter: classes?.after ?? null,
  });

/** The schools whose imports a caller may see; undefined for all. */
export const schoolsOf = ({ all, schoolIds }: Reach) => (all ? undefined : [...schoolIds]);

const listPersonImports: AdminHandler<"listPersonImports"> = async (deps, { path, query, reach }) => {
  const page = readPage(deps, "listPersonImports", query);
  const personId = path.personId as PersonId;
  await getReachedPerson(deps.db, reach, personId);
  const asked = { personId, schoolIds: schoolsOf(reach), limit: page.take, after: page.after };
  const answered = { list: "listPersonImports" as const, path: `/admin/v1/people/${personId}/imports`, query, page };
  const found = await list(deps.db, asked);
  return answerPage(deps, answered, { found, idOf: ({ id }) => id, present: presentPersonImport });
};

export const personImportHandlers = { listPersonImports };
