import { readTable, userIsReadable } from "../access/index.ts";
import { answerRead } from "../platform/http/index.ts";
import { userNotFound, type IdmHandler } from "./contract.ts";
import { makePersonReads, user } from "./records.ts";

const p = readTable("person", "p");

const userById = makePersonReads("idm_user", (scope) => ({
  item: user(scope),
  visible: userIsReadable(scope, p),
}));

export const getUser: IdmHandler<"getUser"> = ({ caller, path }) =>
  answerRead(userById[caller.ids], { client: caller.clientId, id: path.id }, userNotFound);
