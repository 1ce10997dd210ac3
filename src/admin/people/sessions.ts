import { attributesOf, listAppsOfPerson as listApps, type AppOfPerson } from "../../access/index.ts";
import type { SchoolId } from "../../directory/index.ts";
import type { RecordStore } from "../../platform/database/db.ts";
import * as signOn from "../../sign-on/index.ts";
import type { ConsentOfPerson, PersonSession } from "../../sign-on/index.ts";
import { isReached, type Reach } from "../../staff/index.ts";
import { present, type AdminHandler, type Schemas } from "../handler.ts";
import { changeWithPerson } from "./logins.ts";
import { getReachedPerson } from "../reached.ts";

export const presentTime = (time: string | null): string | null => time && new Date(time).toISOString();

export const presentSession = (session: PersonSession) => present("PersonSession", session);

export const presentConsent = (consent: ConsentOfPerson) =>
  present("PersonConsent", { ...consent, scopes: consent.scopes as Schemas["AppScope"][] });

type OfPerson = { consents: readonly ConsentOfPerson[]; chosen: ReadonlyMap<string, string>; isGuest: boolean };

/** Omits schools that the caller does not reach and their groups; of guests, sign-ins too. */
export function presentAppOfPerson(app: AppOfPerson, reach: Reach, { consents, chosen, isGuest }: OfPerson) {
  const { clientId, schools, groups, firstSignInAt, lastSignInAt } = app;
  const consent = isGuest ? undefined : consents.find((one) => one.clientId === clientId);
  const isSeen = ({ id }: { id: SchoolId }) => isReached(reach, { schools: [id] });
  const choices = isGuest || app.signOnSchools.length < 2 ? [] : app.signOnSchools;
  return present("AppOfPerson", {
    ...app,
    attributes: attributesOf(app),
    schools: schools.filter(isSeen),
    groups: groups.filter(({ schoolId }) => isReached(reach, { schools: [schoolId] })),
    firstSignInAt: isGuest ? null : presentTime(firstSignInAt),
    lastSignInAt: isGuest ? null : presentTime(lastSignInAt),
    consent: consent ? presentConsent(consent) : null,
    chosenSchool: choices.filter(isSeen).find(({ id }) => id === chosen.get(clientId)) ?? null,
  });
}

async function listGranted<App extends AppOfPerson>({ prisma }: RecordStore, { schoolIds }: Reach, apps: App[]) {
  const where = { schoolId: { in: [...schoolIds] }, clientId: { in: apps.map(({ clientId }) => clientId) } };
  const grants = await prisma.grant.findMany({ where, select: { clientId: true } });
  const granted = new Set(grants.map(({ clientId }) => clientId));
  return apps.filter(({ clientId }) => granted.has(clientId));
}

export const listAppsOfPerson: AdminHandler<"listAppsOfPerson"> = async ({ db }, request) => {
  const { personId, reach, origin, page } = request;
  const { isGuest } = await getReachedPerson(db, reach, personId);
  const consents = await signOn.listConsents(db, personId);
  const chosen = await signOn.listChosenSchools(db, personId);
  const apps = await listApps(db.pool, { personId, now: origin.at });
  return page.answerFrom(
    isGuest ? await listGranted(db, reach, apps) : apps,
    (app) => presentAppOfPerson(app, reach, { consents, chosen, isGuest }),
    ({ place }) => place,
  );
};

export const listSessions: AdminHandler<"listSessions"> = async (deps, { personId, reach, origin, page }) => {
  await getReachedPerson(deps.db, reach, personId);
  return page.answerFrom(await signOn.listSessions(deps, { personId, now: origin.at }), presentSession);
};

export const endSession: AdminHandler<"endSession"> = (deps, request) =>
  changeWithPerson(deps, request, (tx, personId, origin) =>
    signOn.endSessionIn(tx, { personId, id: request.sessionId }, origin),
  );

export const listConsents: AdminHandler<"listConsents"> = async ({ db }, { personId, reach, page }) => {
  await getReachedPerson(db, reach, personId);
  return page.answerFrom(await signOn.listConsents(db, personId), presentConsent, ({ clientId }) => clientId);
};

export const withdrawConsent: AdminHandler<"withdrawConsent"> = (deps, request) =>
  changeWithPerson(deps, request, (tx, personId, origin) =>
    signOn.withdrawConsentIn(tx, { personId, clientId: request.clientId }, origin),
  );

export const withdrawSchoolChoice: AdminHandler<"withdrawSchoolChoice"> = (deps, request) =>
  changeWithPerson(deps, request, (tx, personId, origin) =>
    signOn.forgetSchoolIn(tx, { personId, clientId: request.clientId }, origin),
  );
