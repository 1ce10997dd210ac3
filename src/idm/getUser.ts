import { userIsShown } from "../access/index.ts";
import { answerRead, asked, makeReadQuery } from "../platform/http/index.ts";
import type { IdmHandler } from "./handler.ts";
import { userNotFound } from "./missing.ts";
import { user, type User } from "./records.ts";

const userById = makeReadQuery<User>("idm_user", {
  item: user,
  from: `person p WHERE p.id = ${asked.id} AND ${userIsShown(asked.client, "p")}`,
});

export const getUser: IdmHandler<"getUser"> = ({ caller, path }) =>
  answerRead(userById, { client: caller.clientId, id: path.id }, userNotFound);
