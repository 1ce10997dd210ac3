import { personIsReadable, readTable } from "../access/index.ts";
import { answerRead } from "../platform/http/index.ts";
import { userNotFound, type IdmHandler } from "./handler.ts";
import { makePersonReads, person } from "./records.ts";

const p = readTable("person", "p");

const personById = makePersonReads("idm_person", (scope) => ({
  item: person(scope),
  visible: personIsReadable(scope, p),
}));

export const getPerson: IdmHandler<"getPerson"> = ({ caller, path }) =>
  answerRead(personById[caller.ids], { client: caller.clientId, id: path.id }, userNotFound);
