import { schoolIsShown } from "../access/index.ts";
import { answerRead, asked, makeReadQuery } from "../platform/http/index.ts";
import type { IdmHandler } from "./handler.ts";
import { schoolNotFound } from "./missing.ts";
import { school, type School } from "./records.ts";

const schoolById = makeReadQuery<School>("idm_school", {
  item: school,
  from: `school s WHERE s.id = ${asked.id} AND ${schoolIsShown(asked.client, "s.id")}`,
});

export const getSchool: IdmHandler<"getSchool"> = ({ caller, path }) =>
  answerRead(schoolById, { client: caller.clientId, id: path.id }, schoolNotFound);
