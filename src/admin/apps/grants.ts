import * as access from "../../access/index.ts";
import { appNotFound, findInCatalogue, listCatalogue as list } from "../../access/index.ts";
import type {
  ClientId,
  GrantKey,
  GrantSettings,
  SignOnAudience,
  ViewTimes,
  AppReads,
  CatalogueApp,
} from "../../access/index.ts";
import { findSchool, type GroupId, type PersonRole, type SchoolId } from "../../directory/index.ts";
import { storeOf, type RecordStore } from "../../platform/database/db.ts";
import { AppError } from "../../platform/errors.ts";
import { isReached, type Reach } from "../../staff/index.ts";
import { answerRecord, changeInDirectory } from "../change.ts";
import { present, type AdminDeps, type AdminHandler, type Schemas } from "../handler.ts";
import { invalidRequest } from "../page.ts";
import { refuseUnknownApp, schoolUnknown } from "../reached.ts";
import { presentSuspension } from "./apps.ts";

type Grant = Schemas["Grant"];

const grantUnknown = () => new AppError("not_found", "grant_not_found", "The school has given this app nothing.");

/** Presents who may sign in; roles and groups are empty if the kind has none. */
export const presentAudience = (signOn: SignOnAudience): Schemas["SignOnAudience"] =>
  present("SignOnAudience", {
    kind: signOn.kind,
    roles: signOn.kind === "ROLES" ? signOn.roles : [],
    groupIds: signOn.kind === "GROUPS" ? signOn.groups : [],
  });

const presentGrant = ({ clientId, schoolId, signOn, sync, syncedGroups }: GrantSettings): Grant =>
  present("Grant", {
    clientId,
    schoolId,
    sync,
    syncedGroupIds: syncedGroups,
    signOn: presentAudience(signOn),
  });

async function readGrant(db: RecordStore, key: GrantKey): Promise<Grant | null> {
  const settings = await access.findGrant(db, key);
  return settings && presentGrant(settings);
}

/** Errors: invalid invalid_request if roles or groups are missing, or do not belong to the kind. */
function readAudience({ kind, roles, groupIds }: Schemas["SignOnAudienceInput"]): SignOnAudience {
  if ((kind === "ROLES") !== (roles !== undefined) || (kind === "GROUPS") !== (groupIds !== undefined)) {
    const message =
      "The property signOn must have roles for the kind ROLES, groupIds for the kind GROUPS, and neither for other kinds.";
    throw invalidRequest(message);
  }
  if (kind === "ROLES") return { kind, roles: roles as [PersonRole, ...PersonRole[]] };
  return kind === "GROUPS" ? { kind, groups: groupIds as GroupId[] } : { kind };
}

/** A caller also reaches a school through an app of theirs that the school granted something. */
export async function reachesSchool({ db }: Pick<AdminDeps, "db">, reach: Reach, schoolId: SchoolId): Promise<boolean> {
  if (isReached(reach, { schools: [schoolId] })) return (await findSchool(db, schoolId)) !== null;
  const among = { schoolIds: [], clientIds: [...reach.clientIds] };
  return (await access.listGrantsByName(storeOf(db), { schoolId, among, limit: 1 })).length > 0;
}

/** Errors: not_found school_not_found, app_not_found if out of reach. */
export async function refuseOtherFilter(
  deps: Pick<AdminDeps, "db">,
  reach: Reach,
  { schoolId, clientId }: { schoolId: SchoolId | undefined; clientId: ClientId | undefined },
): Promise<void> {
  if (schoolId !== undefined && !(await reachesSchool(deps, reach, schoolId))) throw schoolUnknown();
  if (clientId !== undefined) await refuseUnknownApp(deps.db.pool, reach, clientId);
}

type Named = GrantSettings & { place: string; schoolName: string; times: ViewTimes };

const presentNamed = ({ schoolName, times, ...grant }: Named): Schemas["NamedGrant"] =>
  present("NamedGrant", {
    ...presentGrant(grant),
    schoolName,
    visibleChangeAt: grant.sync ? times.changedAt : null,
    sourceReadAt: grant.sync ? times.sourceReadAt : null,
  });

export const listGrants: AdminHandler<"listGrants"> = async (deps, request) => {
  const { query, reach, page } = request;
  const filter = { schoolId: query.school, clientId: query.app };
  await refuseOtherFilter(deps, reach, filter);
  const grants = await access.listGrantsByName(storeOf(deps.db), {
    ...filter,
    among: reach.all ? undefined : { schoolIds: [...reach.schoolIds], clientIds: [...reach.clientIds] },
    limit: page.range.limit,
    after: page.position<{ place: string; schoolId: SchoolId }>(),
  });
  const times = await access.findViewTimes(storeOf(deps.db), grants);
  return page.answer(
    grants.map((grant, index) => ({ ...grant, times: times[index]! })),
    presentNamed,
    ({ place, schoolId }) => ({ place, schoolId }),
  );
};

export const getGrant: AdminHandler<"getGrant"> = async ({ db }, { schoolId, clientId, reach }) => {
  const key = { schoolId, clientId };
  if (!isReached(reach, { schools: [schoolId], clientId })) throw schoolUnknown();
  const body = await readGrant(db, key);
  if (body !== null) return answerRecord(body);
  throw reach.all && (await findSchool(db, schoolId)) === null ? schoolUnknown() : grantUnknown();
};

export const putGrant: AdminHandler<"putGrant"> = (deps, request) => {
  const { schoolId, clientId, body } = request;
  const key = { schoolId, clientId };
  const settings = { signOn: readAudience(body.signOn), sync: body.sync };
  return changeInDirectory(deps, request, {
    touch: async ({ tx, touchSchool }) => {
      if ((await access.findApp(tx, clientId)) === null) throw access.appNotFound();
      await touchSchool(schoolId, clientId);
    },
    record: (tx) => readGrant(tx, key),
    work: async (change, before) => {
      const startsSync = body.sync && before?.sync !== true;
      if (deps.demandsAgreements && startsSync) await access.refuseWithoutAgreement(change.tx, key);
      await access.setGrant(change, { ...key, ...settings, syncedGroups: body.syncedGroupIds });
    },
  });
};

export const deleteGrant: AdminHandler<"deleteGrant"> = (deps, request) => {
  const { schoolId, clientId } = request;
  const key = { schoolId, clientId };
  return changeInDirectory(deps, request, {
    touch: async ({ tx, touchSchool }) => {
      await touchSchool(schoolId, clientId);
      if ((await access.findGrant(tx, key)) === null) throw grantUnknown();
    },
    record: (tx) => readGrant(tx, key),
    work: (change) => access.withdrawGrant(change, key),
  });
};

export const presentCatalogueGrant = (grant: NonNullable<CatalogueApp["grant"]>) =>
  present("CatalogueGrant", {
    signOn: presentAudience(grant.signOn),
    signOnGroups: grant.signOnGroupNames,
    sync: grant.sync,
    syncedGroups: grant.syncedGroupNames,
  });

function presentApp(catalogueApp: CatalogueApp, reads: AppReads | null) {
  const { scopes, attributes, grant, lastSignInAt, lastCallAt, ...app } = catalogueApp;
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
  return page.answer(
    await list(store, { schoolId, search, granted, ...page.range }),
    (app) => presentApp(app, null),
    ({ place }) => place,
  );
};

export const getCatalogueApp: AdminHandler<"getCatalogueApp"> = async ({ db }, { schoolId, clientId }) => {
  const app = await findInCatalogue(storeOf(db), { schoolId, clientId });
  if (app === null) throw appNotFound();
  return answerRecord(presentApp(app, app.reads), ["lastSignInAt", "lastCallAt"]);
};
