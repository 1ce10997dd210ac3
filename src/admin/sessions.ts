import { attributesOf, listAppsOfPerson as listApps, type AppOfPerson } from "../access/index.ts";
import { present } from "../platform/contract-types.ts";
import type { RecordStore } from "../platform/database/db.ts";
import { endSessionIn, listConsents as consentsOf, listSessions as sessionsOf } from "../sign-on/index.ts";
import { withdrawConsentIn, type ConsentOfPerson, type PersonSession } from "../sign-on/index.ts";
import { isReached, type Reach } from "../staff/index.ts";
import type { AdminHandler, Schemas } from "./handler.ts";
import { changeWithPerson } from "./logins.ts";
import { readPage } from "./page.ts";
import { getReachedPerson } from "./whose-person.ts";

export const presentTime = (time: string | null): string | null => time && new Date(time).toISOString();

export const presentSession = (session: PersonSession) => present<Schemas["PersonSession"]>(session);

export const presentConsent = (consent: ConsentOfPerson) =>
  present<NonNullable<Schemas["PersonConsent"]>>({ ...consent, scopes: consent.scopes as Schemas["AppScope"][] });

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

async function listGranted<App extends AppOfPerson>({ prisma }: RecordStore, { schoolIds }: Reach, apps: App[]) {
  const where = { schoolId: { in: [...schoolIds] }, clientId: { in: apps.map(({ clientId }) => clientId) } };
  const grants = await prisma.grant.findMany({ where, select: { clientId: true } });
  const granted = new Set(grants.map(({ clientId }) => clientId));
  return apps.filter(({ clientId }) => granted.has(clientId));
}

export const listAppsOfPerson: AdminHandler<"listAppsOfPerson"> = async (deps, request) => {
  const { personId, reach, origin } = request;
  const page = readPage(deps, request);
  const { isGuest } = await getReachedPerson(deps.db, reach, personId);
  const consents = await consentsOf(deps.db, personId);
  const apps = await listApps(deps.db.pool, { personId, now: origin.at });
  return page.answerFrom(
    isGuest ? await listGranted(deps.db, reach, apps) : apps,
    (app) => presentAppOfPerson(app, reach, { consents, isGuest }),
    ({ place }) => place,
  );
};

export const listSessions: AdminHandler<"listSessions"> = async (deps, request) => {
  const { personId, reach, origin } = request;
  const page = readPage(deps, request);
  await getReachedPerson(deps.db, reach, personId);
  return page.answerFrom(await sessionsOf(deps.db.pool, { personId, now: origin.at }), presentSession);
};

export const endSession: AdminHandler<"endSession"> = (deps, request) =>
  changeWithPerson(deps, request, (tx, personId, origin) =>
    endSessionIn(tx, { personId, id: request.sessionId }, origin),
  );

export const listConsents: AdminHandler<"listConsents"> = async (deps, request) => {
  const { personId, reach } = request;
  const page = readPage(deps, request);
  await getReachedPerson(deps.db, reach, personId);
  return page.answerFrom(await consentsOf(deps.db, personId), presentConsent, ({ clientId }) => clientId);
};

export const withdrawConsent: AdminHandler<"withdrawConsent"> = (deps, request) =>
  changeWithPerson(deps, request, (tx, personId, origin) =>
    withdrawConsentIn(tx, { personId, clientId: request.clientId }, origin),
  );
