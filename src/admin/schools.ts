import { createSchool as create, findSchool, listSchools as list, updateSchool as update } from "../directory/index.ts";
import type { NewSchool, School, SchoolId, SchoolUpdate } from "../directory/index.ts";
import type { Same } from "../platform/contract-types.ts";
import { storeOf, type RecordStore } from "../platform/database/db.ts";
import { answerRecord, changeRecord, createRecord, refuseStale, tagOf } from "./change.ts";
import type { AdminHandler, Schemas } from "./handler.ts";
import { readPage } from "./page.ts";
import { refuseOtherSchool, schoolUnknown } from "./reached.ts";

type AdminSchool = Schemas["AdminSchool"];

const schoolsPath = "/admin/v1/schools";
/** Do not compile if a school has a property that the contract lacks. */
export const schoolProperties: Same<keyof AdminSchool, keyof School> = true;
export const newSchoolProperties: Same<keyof Schemas["SchoolInput"], Exclude<keyof NewSchool, "id">> = true;
export const updatedProperties: Same<keyof Schemas["SchoolUpdate"], Exclude<keyof SchoolUpdate, "schoolId">> = true;

export async function readSchool(db: RecordStore, schoolId: SchoolId): Promise<AdminSchool> {
  const school = await findSchool(db, schoolId);
  if (school === null) throw schoolUnknown();
  return school;
}

export const listSchools: AdminHandler<"listSchools"> = async (deps, request) => {
  const { query, reach } = request;
  const page = readPage(deps, request);
  const among = reach.all ? undefined : [...reach.schoolIds];
  const found = await list(storeOf(deps.db), { search: query.search, among, order: query.order, ...page.range });
  return page.answer(found);
};

export const getSchool: AdminHandler<"getSchool"> = async ({ db }, { schoolId, reach }) => {
  refuseOtherSchool(reach, schoolId);
  return answerRecord(await readSchool(db, schoolId));
};

export const createSchool: AdminHandler<"createSchool"> = (deps, request) =>
  createRecord(deps, request, {
    path: schoolsPath,
    make: async (change) => readSchool(change.tx, await create(change, request.body)),
  });

export const updateSchool: AdminHandler<"updateSchool"> = async (deps, request) => {
  const { schoolId, body, headers, reach } = request;
  refuseOtherSchool(reach, schoolId);
  return changeRecord(deps, request, {
    touch: (change) => change.touch({ schools: [schoolId] }),
    record: (tx) => readSchool(tx, schoolId),
    work: async (change, before) => {
      refuseStale(headers, before!);
      await update(change, { schoolId, ...body });
    },
    tag: tagOf,
  });
};
