import { personIsShown, personIsSynced, readTable, visibleBy } from "../access/index.ts";
import { answerList } from "../platform/http/index.ts";
import type { Value } from "../platform/database/sql.ts";
import type { Visible } from "../platform/database/visible-sql.ts";
import { organizationNotFound, type IdmHandler } from "./handler.ts";
import { listedPerson, listedPersonWithStatus, makePeopleLists } from "./records.ts";

const p = readTable("person", "p");

const byScope = ({ client }: { client: Value }, condition: Visible) =>
  visibleBy("people:read", { client, personId: p.id }, condition);

const people = makePeopleLists("idm_school_people", (given) => ({
  item: listedPerson(given),
  visible: byScope(given, personIsShown(given.client, p, given.school)),
}));
const peopleWithDeleted = makePeopleLists("idm_school_people_deleted", (given) => ({
  item: listedPersonWithStatus(given),
  visible: byScope(given, personIsSynced(given.client, p, given.school)),
}));

export const listSchoolPeople: IdmHandler<"listSchoolPeople"> = ({ caller, path, query }) =>
  answerList(
    (query["show-deleted"] ? peopleWithDeleted : people)(caller),
    { client: caller.clientId, school: path.id },
    organizationNotFound,
    query,
  );
