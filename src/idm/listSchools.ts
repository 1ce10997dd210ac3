import { fromShownSchools, viewVersion } from "../access/index.ts";
import { answerList, makeListQuery } from "../platform/http/index.ts";
import { sql } from "../platform/database/sql.ts";
import type { IdmHandler } from "./contract.ts";
import { school, type School } from "./records.ts";

const schools = makeListQuery<School, { client: string }>("idm_schools", ({ client }) => ({
  item: school({ client }),
  from: fromShownSchools(client),
  version: viewVersion(client, null),
  sortKey: sql`listed.sort_key`,
  id: sql`listed.id`,
}));

export const listSchools: IdmHandler<"listSchools"> = ({ caller, query }) =>
  answerList(schools, { client: caller.clientId }, null, query);
