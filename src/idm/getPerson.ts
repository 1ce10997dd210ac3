import { personIsShown } from "../access/index.ts";
import { answerRead, asked, makeReadQuery } from "../platform/http/index.ts";
import type { IdmHandler } from "./handler.ts";
import { userNotFound } from "./missing.ts";
import { person, type Person } from "./records.ts";

const personById = makeReadQuery<Person>("idm_person", {
  item: person,
  from: `person p WHERE p.id = ${asked.id} AND ${personIsShown(asked.client, "p")}`,
});

export const getPerson: IdmHandler<"getPerson"> = ({ caller, path }) =>
  answerRead(personById, { client: caller.clientId, id: path.id }, userNotFound);
