import { personIsReadable, readTable, syncedPersonIsListed } from "../access/index.ts";
import { answerRead } from "../platform/http/index.ts";
import { userNotFound, type IdmHandler } from "./contract.ts";
import { listedPersonWithStatus, makePersonReads, person } from "./records.ts";

const p = readTable("person", "p");

const personById = makePersonReads("idm_person", (scope) => ({
  item: person(scope),
  visible: personIsReadable(scope, p),
}));
const personByIdWithDeleted = makePersonReads("idm_person_deleted", (scope) => ({
  item: listedPersonWithStatus(scope),
  visible: syncedPersonIsListed(scope, p),
}));

export const getPerson: IdmHandler<"getPerson"> = ({ caller, path, query }) =>
  answerRead(
    (query["show-deleted"] ? personByIdWithDeleted : personById)[caller.ids],
    { client: caller.clientId, id: path.id },
    userNotFound,
  );
