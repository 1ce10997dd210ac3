import { schoolIsShown, viewVersion } from "../access/index.ts";
import { answerList, makeListQuery } from "../platform/http/index.ts";
import type { IdmHandler } from "./handler.ts";
import { client, school, type School } from "./records.ts";

const schools = makeListQuery<School>("idm_schools", {
  item: school,
  from: `school s WHERE ${schoolIsShown(client, "s.id")}`,
  version: viewVersion(client, null),
  values: 1,
  sortKey: "s.sort_key",
  id: "s.id",
});

export const listSchools: IdmHandler<"listSchools"> = ({ caller, query }) => answerList(schools, [caller.clientId], null, query);
