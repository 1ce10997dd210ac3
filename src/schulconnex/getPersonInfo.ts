import {
  appIds,
  nameOfOrder,
  personHasShownSchool,
  readTable,
  viewVersionOfPerson,
  visibleBy,
  type IdKind,
} from "../access/index.ts";
import { AppError } from "../platform/errors.ts";
import { answerRead, asked, makeReadQuery } from "../platform/http/index.ts";
import { sql } from "../platform/database/sql.ts";
import type { SchulconnexHandler } from "./contract.ts";
import { allParts, personendatensatz, type Personendatensatz } from "./records.ts";

const p = readTable("person", "p");

const makePersonRead = (kind: IdKind) =>
  makeReadQuery<Personendatensatz>(`schulconnex_person_info${nameOfOrder({ by: "all", ids: kind })}`, {
    item: personendatensatz(asked.client, allParts, { kind, pid: appIds[kind].of(asked.client, p.id) }),
    version: viewVersionOfPerson(asked.client, p.id),
    from: sql`${p}`,
    where: sql`${p.id} = ${asked.id}`,
    visible: visibleBy(
      "people:read",
      { client: asked.client, personId: p.id },
      personHasShownSchool(asked.client, p.id),
    ),
  });
const personById = { shared: makePersonRead("shared"), own: makePersonRead("own") };

const personNotFound = () =>
  new AppError("not_found", "person_not_found", "No school of this person syncs to the app.");

export const getPersonInfo: SchulconnexHandler<"getPersonInfo"> = ({ caller }) =>
  answerRead(personById[caller.ids], { client: caller.clientId, id: caller.personId! }, personNotFound);
