import {
  fromIdChanges,
  isKnownSector,
  noteIdChangesRead,
  readTable,
  schoolIsShown,
  shownSchools,
  viewVersion,
} from "../access/index.ts";
import type { Db } from "../platform/database/db.ts";
import { answerList, makeListQuery } from "../platform/http/index.ts";
import { jsonArray, jsonCode, jsonFrom, jsonObject } from "../platform/database/json-sql.ts";
import { sql, table, type Sql, type Value, lookUp } from "../platform/database/sql.ts";
import type { components } from "../../generated/openapi/idm.ts";
import type { IdmHandler } from "./contract.ts";

type Schemas = components["schemas"];
type IdentifierChange = Schemas["IdentifierChange"];

const a = readTable("affiliation", "a");
const old = table("pairwiseId", "old");
const now = table("pairwiseId", "new");

const sameContext = (ids: typeof old, sector: Sql): Sql =>
  sql`${ids.personId} = ${a.personId} AND ${ids.recordId} = ${a.id} AND ${ids.sector} = ${sector}`;

/** The ids of the person at schools that the app sees. */
const fromContexts = (client: Value): Sql => sql`
  FROM ${a} ${lookUp("pairwiseId", "old", sameContext(old, sql`listed.sector`))}
  ${lookUp("pairwiseId", "new", sameContext(now, sql`listed.new_sector`))}
  WHERE ${a.personId} = listed.person_id AND ${now.id} <> ${old.id} AND ${schoolIsShown(client, a.schoolId)}`;

const context = jsonObject<Schemas["ContextIdentifierChange"]>()({ oldId: jsonCode(old.id), newId: jsonCode(now.id) });

const partsOf = (client: Value, id?: Value) => ({
  item: jsonObject<IdentifierChange>()({
    oldId: jsonCode(sql`listed.old_id`),
    newId: jsonCode(sql`listed.new_id`),
    inUse: jsonCode<IdentifierChange["inUse"]>(sql`CASE WHEN listed.is_new THEN 'NEW' ELSE 'OLD' END`),
    contexts: jsonFrom(jsonArray(context, old.id), fromContexts(client)),
  }),
  from: fromIdChanges(client, id),
  visible: isKnownSector(client, sql`listed.sector`),
  version: viewVersion(client, shownSchools(client)),
  sortKey: sql`listed.sector`,
  id: sql`listed.old_id`,
});

const all = makeListQuery<IdentifierChange, { client: string }>("idm_identifier_changes", ({ client }) =>
  partsOf(client),
);
const one = makeListQuery<IdentifierChange, { client: string; id: string }>("idm_identifier_change", ({ client, id }) =>
  partsOf(client, id),
);

const defaultLimit = 100;

export const makeListIdentifierChanges =
  (changes: Db): IdmHandler<"listIdentifierChanges"> =>
  ({ caller: { clientId }, query: { id, ...page } }) => {
    if (id !== undefined) return answerList(one, { client: clientId, id }, null, page);
    const limit = page.limit ?? (page.cursor === undefined ? null : defaultLimit);
    return {
      ...answerList(all, { client: clientId }, null, page),
      noteStart: (after) => noteIdChangesRead(changes.pool, { clientId, after, limit }),
    };
  };
