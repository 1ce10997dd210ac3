import { personIsShown, readTable, viewVersionOfPerson } from "../access/index.ts";
import { answerRead, asked, makeReadQuery } from "../platform/http/index.ts";
import { sql } from "../platform/database/sql.ts";
import { userNotFound, type IdmHandler } from "./handler.ts";
import { person, type Person } from "./records.ts";

const p = readTable("person", "p");

const personById = makeReadQuery<Person>("idm_person", {
  item: person(asked),
  version: viewVersionOfPerson(asked.client, p.id),
  from: sql`${p}`,
  where: sql`${p.id} = ${asked.id}`,
  visible: personIsShown(asked.client, p),
});

export const getPerson: IdmHandler<"getPerson"> = ({ caller, path }) =>
  answerRead(personById, { client: caller.clientId, id: path.id }, userNotFound);
