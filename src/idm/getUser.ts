import { userIsShown } from "../access/index.ts";
import { answerRead, makeReadQuery } from "../platform/http/index.ts";
import type { IdmHandler } from "./handler.ts";
import { userNotFound } from "./missing.ts";
import { client, user, type User } from "./records.ts";

const userById = makeReadQuery<User>("idm_user", {
  item: user,
  from: `person p WHERE p.id = $2 AND ${userIsShown(client, "p")}`,
});

export const getUser: IdmHandler<"getUser"> = ({ caller, path }) => answerRead(userById, [caller.clientId, path.id], userNotFound());
