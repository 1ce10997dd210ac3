import { shownSchools, viewVersion } from "../access/index.ts";
import { answerList, makeListQuery } from "../platform/http/index.ts";
import { lookUp } from "../platform/lookup-sql.ts";
import type { IdmHandler } from "./handler.ts";
import { client, school, type School } from "./records.ts";

/** The sort keys and ids alone are sorted; the schools themselves are read one by one in that order. */
const inOrder = `(
  SELECT s.sort_key, s.id FROM (${shownSchools(client)}) AS shown (id) ${lookUp("school", "s", "s.id = shown.id")} ORDER BY s.sort_key, s.id OFFSET 0) AS listed`;

const schools = makeListQuery<School>("idm_schools", {
  item: school,
  from: `${inOrder} ${lookUp("school", "s", "s.id = listed.id")} WHERE true`,
  version: viewVersion(client, null),
  values: 1,
  sortKey: "listed.sort_key",
  id: "listed.id",
});

export const listSchools: IdmHandler<"listSchools"> = ({ caller, query }) =>
  answerList(schools, [caller.clientId], null, query);
