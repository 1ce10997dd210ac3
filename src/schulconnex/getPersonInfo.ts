import { AppError } from "../platform/errors.ts";
import { answerRead, asked, makeReadQuery } from "../platform/http/index.ts";
import type { SchulconnexHandler } from "./handler.ts";
import { allParts, personendatensatz, personHasShownSchool, type Personendatensatz } from "./records.ts";

const personById = makeReadQuery<Personendatensatz>("schulconnex_person_info", {
  item: personendatensatz(asked.client, allParts),
  from: `person p WHERE p.id = ${asked.id} AND ${personHasShownSchool(asked.client)}`,
});

const personNotFound = () =>
  new AppError("not_found", "person_not_found", "No school of this person syncs to the app.");

export const getPersonInfo: SchulconnexHandler<"getPersonInfo"> = ({ caller }) =>
  answerRead(personById, { client: caller.clientId, id: caller.personId! }, personNotFound);
