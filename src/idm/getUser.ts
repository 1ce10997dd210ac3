import { userIsShown, readTable, viewVersionOfPerson } from "../access/index.ts";
import { answerRead, asked, makeReadQuery } from "../platform/http/index.ts";
import { sql } from "../platform/database/sql.ts";
import { userNotFound, type IdmHandler } from "./handler.ts";
import { user, type User } from "./records.ts";

const p = readTable("person", "p");

const userById = makeReadQuery<User>("idm_user", {
  item: user(asked),
  version: viewVersionOfPerson(asked.client, p.id),
  from: sql`${p}`,
  where: sql`${p.id} = ${asked.id}`,
  visible: userIsShown(asked.client, p),
});

export const getUser: IdmHandler<"getUser"> = ({ caller, path }) =>
  answerRead(userById, { client: caller.clientId, id: path.id }, userNotFound);
