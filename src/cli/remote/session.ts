import type { ClientId } from "../../access/index.ts";
import type { PersonId } from "../../directory/index.ts";
import type { ConsentOfPerson, PersonSession } from "../../sign-on/index.ts";
import { dateOf, allEntries, type Remote } from "../admin-api.ts";

const onePerson = "/admin/v1/people/{personId}";

export async function listSessions({ api }: Remote, personId: PersonId): Promise<PersonSession[]> {
  const read = (query: object) => api.GET(`${onePerson}/sessions`, { params: { path: { personId }, query } });
  const found = await allEntries(read);
  return found.map(({ apps, since, lastUsedAt, endsAt, ...session }) => ({
    ...session,
    apps: apps.map((app) => ({ ...app, clientId: app.clientId as ClientId })),
    since: new Date(since),
    lastUsedAt: dateOf(lastUsedAt),
    endsAt: new Date(endsAt),
  }));
}

export async function endSession({ api }: Remote, path: { personId: PersonId; sessionId: string }): Promise<void> {
  await api.DELETE(`${onePerson}/sessions/{sessionId}`, { params: { path } });
}

export async function listConsents({ api }: Remote, personId: PersonId): Promise<ConsentOfPerson[]> {
  const read = (query: object) => api.GET(`${onePerson}/consents`, { params: { path: { personId }, query } });
  const found = (await allEntries(read)).filter((consent) => consent !== null);
  return found.map(({ clientId, grantedAt, ...consent }) => ({
    ...consent,
    clientId: clientId as ClientId,
    grantedAt: new Date(grantedAt),
  }));
}

export async function withdrawConsent({ api }: Remote, path: { personId: PersonId; clientId: string }): Promise<void> {
  await api.DELETE(`${onePerson}/consents/{clientId}`, { params: { path } });
}
