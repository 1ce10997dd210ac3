import { attributesOf, listAppsOfPerson as listApps, type AppOfPerson, type ClientId } from "../access/index.ts";
import type { PersonId } from "../directory/index.ts";
import { present } from "../platform/contract-types.ts";
import type { RecordStore } from "../platform/database/db.ts";
import { endSessionIn, listConsents as consentsOf, listSessions as sessionsOf } from "../sign-on/index.ts";
import { withdrawConsentIn, type ConsentOfPerson, type PersonSession } from "../sign-on/index.ts";
import { isReached, type Reach } from "../staff/index.ts";
import type { components } from "../../generated/openapi/admin.ts";
import type { AdminHandler } from "./handler.ts";
import { withPerson } from "./logins.ts";
import { answerPage, readPage, type Page } from "./page.ts";
import { getReachedPerson } from "./whose-person.ts";

type Schemas = components["schemas"];

export const presentTime = (time: string | null): string | null => time && new Date(time).toISOString();

export const presentSession = ({ id, kind, apps, since, lastUsedAt, endsAt }: PersonSession) =>
  present<Schemas["PersonSession"]>({
    id,
    kind,
    apps,
    since: since.toISOString(),
    lastUsedAt: lastUsedAt?.toISOString() ?? null,
    endsAt: endsAt.toISOString(),
  });

export const presentConsent = ({ clientId, appName, scopes, grantedAt }: ConsentOfPerson) =>
  present<NonNullable<Schemas["PersonConsent"]>>({
    clientId,
    appName,
    scopes: scopes as Schemas["AppScope"][],
    grantedAt: grantedAt.toISOString(),
  });

type OfPerson = { consents: readonly ConsentOfPerson[]; isGuest: boolean };

/** Omits schools that the caller does not reach and their groups; of guests, sign-ins too. */
export function presentAppOfPerson(app: AppOfPerson, reach: Reach, { consents, isGuest }: OfPerson) {
  const { clientId, name, maySignIn, isUser, isPerson, schools, groups, firstSignInAt, lastSignInAt } = app;
  const consent = isGuest ? undefined : consents.find((one) => one.clientId === clientId);
  return present<Schemas["AppOfPerson"]>({
    clientId,
    name,
    maySignIn,
    isUser,
    isPerson,
    attributes: attributesOf(app),
    schools: schools.filter(({ id }) => isReached(reach, { schools: [id] })),
    groups: groups.filter(({ schoolId }) => isReached(reach, { schools: [schoolId] })),
    firstSignInAt: isGuest ? null : presentTime(firstSignInAt),
    lastSignInAt: isGuest ? null : presentTime(lastSignInAt),
    consent: consent === undefined ? null : presentConsent(consent),
  });
}

/** The entries of one page; `all` is in the order of its positions. */
export function partOf<Entry>(
  all: readonly Entry[],
  placeOf: (entry: Entry) => string,
  { after, take }: Page,
): Entry[] {
  const start = after === undefined ? 0 : all.findIndex((entry) => placeOf(entry) === after) + 1;
  return all.slice(start, start + take);
}

async function listGranted<App extends AppOfPerson>({ prisma }: RecordStore, { schoolIds }: Reach, apps: App[]) {
  const where = { schoolId: { in: [...schoolIds] }, clientId: { in: apps.map(({ clientId }) => clientId) } };
  const grants = await prisma.grant.findMany({ where, select: { clientId: true } });
  const granted = new Set(grants.map(({ clientId }) => clientId));
  return apps.filter(({ clientId }) => granted.has(clientId));
}

const listAppsOfPerson: AdminHandler<"listAppsOfPerson"> = async (deps, { path, query, reach, origin }) => {
  const page = readPage(deps, "listAppsOfPerson", query);
  const personId = path.personId as PersonId;
  const { isGuest } = await getReachedPerson(deps.db, reach, personId);
  const consents = await consentsOf(deps.db, personId);
  const idOf = ({ place }: { place: string }) => place;
  const apps = await listApps(deps.db.pool, { personId, now: origin.at });
  const found = partOf(isGuest ? await listGranted(deps.db, reach, apps) : apps, idOf, page);
  const list = { list: "listAppsOfPerson" as const, path: `/admin/v1/people/${personId}/apps`, query, page };
  return answerPage(deps, list, {
    found,
    idOf,
    present: (app) => presentAppOfPerson(app, reach, { consents, isGuest }),
  });
};

const listSessions: AdminHandler<"listSessions"> = async (deps, { path, query, reach, origin }) => {
  const page = readPage(deps, "listSessions", query);
  const personId = path.personId as PersonId;
  await getReachedPerson(deps.db, reach, personId);
  const idOf = ({ id }: PersonSession) => id;
  const found = partOf(await sessionsOf(deps.db.pool, { personId, now: origin.at }), idOf, page);
  const list = { list: "listSessions" as const, path: `/admin/v1/people/${personId}/sessions`, query, page };
  return answerPage(deps, list, { found, idOf, present: presentSession });
};

const endSession: AdminHandler<"endSession"> = (deps, request) =>
  withPerson(deps, request, async (tx, personId) => {
    await endSessionIn(tx, { personId, id: request.path.sessionId }, request.origin);
    return { status: 204 };
  });

const listConsents: AdminHandler<"listConsents"> = async (deps, { path, query, reach }) => {
  const page = readPage(deps, "listConsents", query);
  const personId = path.personId as PersonId;
  await getReachedPerson(deps.db, reach, personId);
  const idOf = ({ clientId }: ConsentOfPerson) => clientId;
  const found = partOf(await consentsOf(deps.db, personId), idOf, page);
  const list = { list: "listConsents" as const, path: `/admin/v1/people/${personId}/consents`, query, page };
  return answerPage(deps, list, { found, idOf, present: presentConsent });
};

const withdrawConsent: AdminHandler<"withdrawConsent"> = (deps, request) =>
  withPerson(deps, request, async (tx, personId) => {
    await withdrawConsentIn(tx, { personId, clientId: request.path.clientId as ClientId }, request.origin);
    return { status: 204 };
  });

export const sessionHandlers = { listAppsOfPerson, listSessions, endSession, listConsents, withdrawConsent };
