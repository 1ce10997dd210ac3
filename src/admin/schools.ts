import { changeDirectory } from "../access/index.ts";
import { createSchool as create, findSchool, listSchools as list, updateSchool as update } from "../directory/index.ts";
import type { School, SchoolId } from "../directory/index.ts";
import { recordDifference } from "../events/index.ts";
import { present } from "../platform/contract-types.ts";
import { storeOf, type RecordStore } from "../platform/db.ts";
import { AppError } from "../platform/errors.ts";
import { isReached, type Reach } from "../staff/index.ts";
import type { components } from "../../generated/openapi/admin.ts";
import { changeRecord } from "./change.ts";
import type { AdminHandler } from "./handler.ts";
import { answerPage, readPage } from "./page.ts";
import { refuseStale, tagOf } from "./stale.ts";

type AdminSchool = components["schemas"]["AdminSchool"];

export const schoolsPath = "/admin/v1/schools";
export const schoolUnknown = () => new AppError("not_found", "school_not_found", "The school does not exist.");

/** Errors: not_found school_not_found for a school that the caller does not reach. */
export function refuseOtherSchool(reach: Reach, schoolId: SchoolId): void {
  if (!isReached(reach, { schools: [schoolId] })) throw schoolUnknown();
}

/** Errors: not_found school_not_found for a school that does not exist, or that the caller does not reach. */
export async function refuseUnknownSchool(db: RecordStore, reach: Reach, schoolId: SchoolId): Promise<void> {
  refuseOtherSchool(reach, schoolId);
  await readSchool(db, schoolId);
}

const presentSchool = ({ id, name, officialId, address, location, schoolingLevel }: School): AdminSchool =>
  present<AdminSchool>({ id, name, officialId, address, location, schoolingLevel });

/** Errors: not_found school_not_found. */
async function readSchool(db: RecordStore, schoolId: SchoolId): Promise<AdminSchool> {
  const school = await findSchool(db, schoolId);
  if (school === null) throw schoolUnknown();
  return presentSchool(school);
}

const listSchools: AdminHandler<"listSchools"> = async (deps, { query, reach }) => {
  const page = readPage(deps, "listSchools", query);
  const among = reach.all ? undefined : [...reach.schoolIds];
  const found = await list(storeOf(deps.db), { search: query.search, limit: page.take, after: page.after, among });
  const asked = { list: "listSchools" as const, path: schoolsPath, query, page };
  return answerPage(deps, asked, { found, idOf: ({ id }) => id, present: presentSchool });
};

const getSchool: AdminHandler<"getSchool"> = async ({ db }, { path, reach }) => {
  const schoolId = path.schoolId as SchoolId;
  refuseOtherSchool(reach, schoolId);
  const body = await readSchool(db, schoolId);
  return { status: 200, body, headers: { ETag: tagOf(body) } };
};

const createSchool: AdminHandler<"createSchool"> = async ({ db }, { body, origin, keep }) =>
  changeDirectory(db, origin, async (change) => {
    const { schoolingLevel = null, address, ...rest } = body;
    const { addressAddition = null } = address;
    const id = await create(change, { ...rest, schoolingLevel, address: { ...address, addressAddition } });
    const made = await readSchool(change.tx, id);
    await recordDifference(change.tx, origin, { before: null, after: made });
    const headers = { Location: `${schoolsPath}/${id}`, ETag: tagOf(made) };
    const answer = { status: 201 as const, body: made, headers };
    await keep(change.tx, answer);
    return answer;
  });

const updateSchool: AdminHandler<"updateSchool"> = async (deps, request) => {
  const { path, body, headers, reach } = request;
  const schoolId = path.schoolId as SchoolId;
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

export const schoolHandlers = { listSchools, getSchool, createSchool, updateSchool };
