import { appNotFound, findInCatalogue, listCatalogue as list } from "../../access/index.ts";
import type { AppReads, CatalogueApp } from "../../access/index.ts";
import { present } from "../present.ts";
import { storeOf } from "../../platform/database/db.ts";
import { presentSuspension } from "./apps.ts";
import { answerRecord } from "../change.ts";
import { presentAudience } from "./grants.ts";
import type { AdminHandler } from "../handler.ts";

export const presentCatalogueGrant = (grant: NonNullable<CatalogueApp["grant"]>) =>
  present("CatalogueGrant", {
    signOn: presentAudience(grant.signOn),
    signOnGroups: grant.signOnGroupNames,
    sync: grant.sync,
    syncedGroups: grant.syncedGroupNames,
  });

function presentApp(found: CatalogueApp, reads: AppReads | null) {
  const { scopes, attributes, grant, lastSignInAt, lastCallAt, ...app } = found;
  return present("CatalogueApp", {
    ...app,
    suspension: presentSuspension(app),
    hasTile: app.loginUrl !== null,
    scopes,
    attributes,
    grant: grant && presentCatalogueGrant(grant),
    reads,
    lastSignInAt,
    lastCallAt,
  });
}

export const listCatalogue: AdminHandler<"listCatalogue"> = async (deps, request) => {
  const { schoolId, query, page } = request;
  const store = storeOf(deps.db);
  const { search, granted } = query;
  const found = await list(store, { schoolId, search, granted, ...page.range });
  return page.answer(
    found,
    (app) => presentApp(app, null),
    ({ place }) => place,
  );
};

export const getCatalogueApp: AdminHandler<"getCatalogueApp"> = async ({ db }, { schoolId, clientId }) => {
  const found = await findInCatalogue(storeOf(db), { schoolId, clientId });
  if (found === null) throw appNotFound();
  return answerRecord(presentApp(found, found.reads), ["lastSignInAt", "lastCallAt"]);
};
