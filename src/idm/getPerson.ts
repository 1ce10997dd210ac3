import { personIsShown } from "../access/index.ts";
import { answerRead, makeReadQuery } from "../platform/http/index.ts";
import type { IdmHandler } from "./handler.ts";
import { userNotFound } from "./missing.ts";
import { client, person, type Person } from "./records.ts";

const personById = makeReadQuery<Person>("idm_person", {
  item: person,
  from: `person p WHERE p.id = $2 AND ${personIsShown(client, "p")}`,
});

export const getPerson: IdmHandler<"getPerson"> = ({ caller, path }) => answerRead(personById, [caller.clientId, path.id], userNotFound());
