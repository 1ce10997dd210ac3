import { AppError } from "../platform/errors.ts";
import { answerRead, makeReadQuery } from "../platform/http/index.ts";
import type { SchulconnexHandler } from "./handler.ts";
import { allParts, fromPeople, personendatensatz, personHasShownSchool, type Personendatensatz } from "./records.ts";

const personById = makeReadQuery<Personendatensatz>("schulconnex_person_info", {
  item: personendatensatz(allParts),
  from: `${fromPeople} AND p.id = $2 AND ${personHasShownSchool}`,
});

export const getPersonInfo: SchulconnexHandler<"getPersonInfo"> = ({ caller }) =>
  answerRead(personById, [caller.clientId, caller.personId], new AppError("not_found", "person_not_found", "No school of this person syncs to the app."));
