import {
  checkSchoolLogo,
  createSchool as create,
  deleteSchoolLogo as removeLogo,
  findSchool,
  findSchoolLogo,
  listSchools as list,
  putSchoolLogo as putLogo,
  updateSchool as update,
} from "../../directory/index.ts";
import type { NewSchool, School, SchoolId, SchoolUpdate } from "../../directory/index.ts";
import { recordDifference } from "../../events/index.ts";
import type { Same } from "../../platform/contract-types.ts";
import { storeOf, withPrismaTransaction, type RecordStore, type Transaction } from "../../platform/database/db.ts";
import { AppError } from "../../platform/errors.ts";
import { answerRecord, changeInDirectory, createRecord, differenceOf, refuseStale, tagOf } from "../change.ts";
import type { AdminHandler, AdminRequest, Schemas } from "../handler.ts";
import { schoolUnknown } from "../reached.ts";

type AdminSchool = Schemas["AdminSchool"];

/** Do not compile if a school has a property that the contract lacks. */
export const schoolProperties: Same<keyof AdminSchool, keyof School> = true;
export const newSchoolProperties: Same<keyof Schemas["SchoolInput"], Exclude<keyof NewSchool, "id">> = true;
export const updatedProperties: Same<keyof Schemas["SchoolUpdate"], Exclude<keyof SchoolUpdate, "schoolId">> = true;

export async function readSchool(db: RecordStore, schoolId: SchoolId): Promise<AdminSchool> {
  const school = await findSchool(db, schoolId);
  if (school === null) throw schoolUnknown();
  return school;
}

export const listSchools: AdminHandler<"listSchools"> = async ({ db }, { query, reach, page }) => {
  const among = reach.all ? undefined : [...reach.schoolIds];
  return page.answer(await list(storeOf(db), { search: query.search, among, order: query.order, ...page.range }));
};

export const getSchool: AdminHandler<"getSchool"> = async ({ db }, { schoolId }) =>
  answerRecord(await readSchool(db, schoolId));

export const createSchool: AdminHandler<"createSchool"> = (deps, request) =>
  createRecord(deps, request, {
    path: "/admin/v1/schools",
    make: async (change) => readSchool(change.tx, await create(change, request.body)),
  });

export const updateSchool: AdminHandler<"updateSchool"> = (deps, request) => {
  const { schoolId, body } = request;
  return changeInDirectory(deps, request, {
    touch: (change) => change.touch({ schools: [schoolId] }),
    record: (tx) => readSchool(tx, schoolId),
    work: (change) => update(change, { schoolId, ...body }),
  });
};

const logoRecord = (hash: string) => ({ logo: hash });

export const getSchoolLogo: AdminHandler<"getSchoolLogo"> = async ({ db }, { schoolId }) => {
  const logo = await findSchoolLogo(db, schoolId);
  if (logo === null) throw new AppError("not_found", "logo_not_found", "The school has no logo.");
  return {
    status: 200,
    body: Buffer.from(logo.bytes),
    headers: { "Content-Type": logo.type, ETag: tagOf(logoRecord(logo.hash)) },
  };
};

/** Records the difference of a logo. Errors: StaleRecord, which rolls the change back. */
async function recordLogo(
  tx: Transaction,
  { headers, origin }: Pick<AdminRequest<"putSchoolLogo" | "deleteSchoolLogo">, "headers" | "origin">,
  { before, after }: Awaited<ReturnType<typeof putLogo>>,
): Promise<void> {
  refuseStale(headers, before === null ? null : logoRecord(before));
  await recordDifference(tx, origin, differenceOf({ logo: before }, { logo: after }));
}

export const putSchoolLogo: AdminHandler<"putSchoolLogo"> = async ({ db }, request) => {
  const { schoolId, body, origin, connection } = request;
  const logo = await checkSchoolLogo(body, { by: origin.actorId, caller: connection });
  return withPrismaTransaction(db, async (tx) => {
    await recordLogo(tx, request, await putLogo(tx, { schoolId, logo }, origin));
    return { status: 204, headers: { ETag: tagOf(logoRecord(logo.hash)) } };
  });
};

export const deleteSchoolLogo: AdminHandler<"deleteSchoolLogo"> = ({ db }, request) =>
  withPrismaTransaction(db, async (tx) => {
    await recordLogo(tx, request, await removeLogo(tx, request.schoolId, request.origin));
    return { status: 204 };
  });
