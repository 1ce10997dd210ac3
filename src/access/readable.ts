import { sql, table, type Columns, type Sql, type Value } from "../platform/database/sql.ts";
import type { Visible } from "../platform/database/visible-sql.ts";
import { appIds } from "./pairwise.ts";
import type { IdKind } from "./token.ts";
import {
  either,
  existsWith,
  groupIsShown,
  groupIsSynced,
  personHasLeft,
  personIsShown,
  personIsSynced,
  schoolIsShown,
  userIsShown,
  userIsShownAt,
  visibleBy,
  visibleInRoster,
} from "./visibility.ts";
import type { PeopleReader } from "./withheld-sql.ts";

// The conditions under which each scope lets an app read a record. The APIs enforce them, and pages explain them.

type Person = Columns<"id" | "role" | "seenBy" | "status">;
type ByPerson = PeopleReader & { personId: Sql };

const of = (reader: PeopleReader, { id }: { id: Sql }): ByPerson => ({ ...reader, personId: id });

export const userIsReadable = (reader: PeopleReader, person: Omit<Person, "status">): Visible =>
  visibleBy("users:read", of(reader, person), userIsShown(reader.client, person));

export const userIsListed = (reader: PeopleReader, person: Person, schoolId: Value): Visible =>
  visibleBy("users:read", of(reader, person), userIsShownAt(reader.client, person, schoolId));

export const personIsReadable = (reader: PeopleReader, person: Person): Visible =>
  visibleBy("people:read", of(reader, person), personIsShown(reader.client, person));

export const personIsListed = (reader: PeopleReader, person: Person, schoolId: Value): Visible =>
  visibleBy("people:read", of(reader, person), personIsShown(reader.client, person, schoolId));

/** Soft-deleted or not: at a school, or at any. */
export const syncedPersonIsListed = (reader: PeopleReader, person: Omit<Person, "status">, schoolId?: Value): Visible =>
  visibleBy("people:read", of(reader, person), personIsSynced(reader.client, person, schoolId));

const known = table("person", "v_known");

/** The app sees somebody by this id, as a person or as a user, or its change feed tells that they have left. */
export const personIdIsKnown = (client: Value, id: Value, kind: IdKind): Visible =>
  either(
    existsWith(
      sql`${known} WHERE ${known.id} = ${appIds[kind].recordOf(client, id)}`,
      either(syncedPersonIsListed({ client }, known), userIsReadable({ client }, known)),
    ),
    personHasLeft(client, id, kind),
  );

export const groupIsReadable = (client: Value, group: Columns<"id" | "status" | "schoolId">): Visible =>
  visibleBy("groups:read", { client, schoolId: group.schoolId }, groupIsShown(client, group));

export const schoolIsInRoster = (client: Value, { id }: Columns<"id">): Visible =>
  visibleInRoster("schools:read", { client, schoolId: id }, schoolIsShown(client, id));

/** Deleted or not, as in lists of the IDM API with deleted groups. */
export const groupIsInRoster = (client: Value, { id, schoolId }: Columns<"id" | "schoolId">): Visible =>
  visibleInRoster("groups:read", { client, schoolId }, groupIsSynced(client, id));

/** Soft-deleted or not, as `syncedPersonIsListed`. */
export const personIsInRoster = (reader: PeopleReader, person: Omit<Person, "status">, schoolId?: Value): Visible =>
  visibleInRoster("people:read", of(reader, person), personIsSynced(reader.client, person, schoolId));

export const schoolIsReadable = (client: Value, { id }: Columns<"id">): Visible =>
  visibleBy("schools:read", { client, schoolId: id }, schoolIsShown(client, id));
