import { listPersonImports as list, type PersonImport } from "../../imports/index.ts";
import { present } from "../../platform/contract-types.ts";
import type { Reach } from "../../staff/index.ts";
import type { AdminHandler, Schemas } from "../handler.ts";
import { getReachedPerson } from "../whose-person.ts";

export const presentPersonImport = ({ importId, schoolId, at, change, classes }: PersonImport) =>
  present<Schemas["PersonImport"]>({
    importId,
    schoolId,
    change,
    at,
    classesBefore: classes?.before ?? null,
    classesAfter: classes?.after ?? null,
  });

/** The schools whose imports a caller may see; undefined for all. */
export const schoolsOf = ({ all, schoolIds }: Reach) => (all ? undefined : [...schoolIds]);

export const listPersonImports: AdminHandler<"listPersonImports"> = async (deps, request) => {
  const { personId, reach, page } = request;
  await getReachedPerson(deps.db, reach, personId);
  const found = await list(deps.db, { personId, schoolIds: schoolsOf(reach), ...page.range });
  return page.answer(found, presentPersonImport);
};
