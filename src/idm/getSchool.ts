import { schoolIsShown } from "../access/index.ts";
import { answerRead, makeReadQuery } from "../platform/http/index.ts";
import type { IdmHandler } from "./handler.ts";
import { schoolNotFound } from "./missing.ts";
import { client, school, type School } from "./records.ts";

const schoolById = makeReadQuery<School>("idm_school", {
  item: school,
  from: `school s WHERE s.id = $2 AND ${schoolIsShown(client, "s.id")}`,
});

export const getSchool: IdmHandler<"getSchool"> = ({ caller, path }) => answerRead(schoolById, [caller.clientId, path.id], schoolNotFound());
