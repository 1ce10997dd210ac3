import * as directory from "../../directory/index.ts";
import type { NewSchool, School, SchoolId, SchoolUpdate } from "../../directory/index.ts";
import type { Same } from "../../platform/contract-types.ts";
import { storeOf, type RecordStore, type Transaction } from "../../platform/database/db.ts";
import { AppError } from "../../platform/errors.ts";
import { answerRecord, changeInDirectory, changeRecord, createRecord, tagOf } from "../change.ts";
import type { AdminDeps, AdminHandler, AdminRequest, Schemas } from "../handler.ts";
import { schoolUnknown } from "../reached.ts";

type AdminSchool = Schemas["AdminSchool"];

/** Do not compile if a school has a property that the contract lacks. */
export const schoolProperties: Same<keyof AdminSchool, keyof School> = true;
export const newSchoolProperties: Same<keyof Schemas["SchoolInput"], Exclude<keyof NewSchool, "id">> = true;
export const updatedProperties: Same<keyof Schemas["SchoolUpdate"], Exclude<keyof SchoolUpdate, "schoolId">> = true;

export async function readSchool(db: RecordStore, schoolId: SchoolId): Promise<AdminSchool> {
  const school = await directory.findSchool(db, schoolId);
  if (school === null) throw schoolUnknown();
  return school;
}

export const listSchools: AdminHandler<"listSchools"> = async ({ db }, { query, reach, page }) => {
  const among = reach.all ? undefined : [...reach.schoolIds];
  return page.answer(
    await directory.listSchools(storeOf(db), { search: query.search, among, order: query.order, ...page.range }),
  );
};

export const getSchool: AdminHandler<"getSchool"> = async ({ db }, { schoolId }) =>
  answerRecord(await readSchool(db, schoolId));

export const createSchool: AdminHandler<"createSchool"> = (deps, request) =>
  createRecord(deps, request, {
    path: "/admin/v1/schools",
    make: async (change) => readSchool(change.tx, await directory.createSchool(change, request.body)),
  });

export const updateSchool: AdminHandler<"updateSchool"> = (deps, request) => {
  const { schoolId, body } = request;
  return changeInDirectory(deps, request, {
    touch: (change) => change.touch({ schools: [schoolId] }),
    record: (tx) => readSchool(tx, schoolId),
    work: (change) => directory.updateSchool(change, { schoolId, ...body }),
  });
};

const logoRecord = (hash: string) => ({ logo: hash });

export const getSchoolLogo: AdminHandler<"getSchoolLogo"> = async ({ db }, { schoolId }) => {
  const logo = await directory.findSchoolLogo(db, schoolId);
  if (logo === null) throw new AppError("not_found", "logo_not_found", "The school has no logo.");
  return {
    status: 200,
    body: Buffer.from(logo.bytes),
    headers: { "Content-Type": logo.type, ETag: tagOf(logoRecord(logo.hash)) },
  };
};

const changeLogo = (
  deps: AdminDeps,
  request: AdminRequest<"putSchoolLogo" | "deleteSchoolLogo">,
  work: (tx: Transaction) => Promise<void>,
) =>
  changeRecord(deps, request, {
    record: async (tx) => {
      const hash = await directory.lockSchoolLogo(tx, request.schoolId);
      return hash === null ? null : logoRecord(hash);
    },
    work,
    absent: { logo: null },
  });

export const putSchoolLogo: AdminHandler<"putSchoolLogo"> = async (deps, request) => {
  const { schoolId, body, origin, connection } = request;
  const logo = await directory.checkSchoolLogo(body, { by: origin.actorId, caller: connection });
  return changeLogo(deps, request, (tx) => directory.putSchoolLogo(tx, { schoolId, logo }, origin));
};

export const deleteSchoolLogo: AdminHandler<"deleteSchoolLogo"> = (deps, request) =>
  changeLogo(deps, request, (tx) => directory.deleteSchoolLogo(tx, request.schoolId, request.origin));
