import { readTable, schoolIsReadable, viewVersion } from "../access/index.ts";
import { answerRead, asked, makeReadQuery } from "../platform/http/index.ts";
import { sql } from "../platform/database/sql.ts";
import { schoolNotFound, type IdmHandler } from "./contract.ts";
import { school, type School } from "./records.ts";

const s = readTable("school", "s");

const schoolById = makeReadQuery<School>("idm_school", {
  item: school(asked),
  version: viewVersion(asked.client, sql`SELECT ${s.id}`),
  from: sql`${s}`,
  where: sql`${s.id} = ${asked.id}`,
  visible: schoolIsReadable(asked.client, s),
});

export const getSchool: IdmHandler<"getSchool"> = ({ caller, path }) =>
  answerRead(schoolById, { client: caller.clientId, id: path.id }, schoolNotFound);
