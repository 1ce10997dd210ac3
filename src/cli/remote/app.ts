import type { App, ClientId, Registration } from "../../access/index.ts";
import { bodyOf, dateOf, everyEntry, firstEntries, given, once, type Remote, type Schemas } from "../admin-api.ts";

/** A registration as it is shown: without the hashes of secrets. */
export type ShownApp = Omit<App, "secretHash" | "oldSecretHash" | "backchannelLogoutUri"> & {
  backchannelLogoutUri: string | null;
};

/** Shape: fields in the order in which they are printed. */
const appOf = (record: Schemas["AdminApp"]): ShownApp => {
  const { clientId, name, type, pkceRequired, redirectUris, postLogoutRedirectUris, loginUrl } = record;
  const { backchannelLogoutUri, scopes, attributes, idTokenAlgorithm, schulconnexSpelling, oldSecretEndsAt } = record;
  return {
    clientId: clientId as ClientId,
    name,
    type,
    pkceRequired,
    redirectUris,
    postLogoutRedirectUris,
    loginUrl,
    backchannelLogoutUri,
    scopes,
    attributes,
    idTokenAlgorithm,
    schulconnexSpelling,
    oldSecretEndsAt: dateOf(oldSecretEndsAt),
  };
};

const oneApp = "/admin/v1/apps/{clientId}";
const of = (clientId: ClientId) => ({ params: { path: { clientId } } });

export const findApp = async ({ api }: Remote, clientId: ClientId): Promise<ShownApp> =>
  appOf(await bodyOf(api.GET(oneApp, of(clientId))));

export type SignOnAttempt = Schemas["SignOnAttempt"];

export const listSignOns = async ({ api }: Remote, clientId: ClientId, limit: number): Promise<SignOnAttempt[]> =>
  firstEntries((page) => api.GET(`${oneApp}/sign-on-attempts`, { params: { path: { clientId }, query: page } }), {
    limit,
  });

export async function listApps({ api }: Remote): Promise<ShownApp[]> {
  const apps: ShownApp[] = [];
  for await (const app of everyEntry((page) => api.GET("/admin/v1/apps", { params: { query: page } })))
    apps.push(appOf(app));
  return apps;
}

type Written = Partial<Omit<Registration, "clientId" | "type" | "backchannelLogoutUri">> & {
  backchannelLogoutUri?: string;
};
type New = Written & { name: string; type: Registration["type"]; clientId: string | undefined };

export async function createApp({ api }: Remote, registration: New) {
  const body = given(registration) as Schemas["NewApp"];
  const { clientId, clientSecret } = await bodyOf(api.POST("/admin/v1/apps", { params: once(), body }));
  return { clientId, clientSecret };
}

export async function updateApp({ api }: Remote, clientId: ClientId, update: Written): Promise<void> {
  await api.PATCH(oneApp, { ...of(clientId), body: given(update) as Schemas["AppUpdate"] });
}

export async function rotateSecret({ api }: Remote, clientId: ClientId, keepOldSeconds: number) {
  const params = { ...of(clientId).params, ...once() };
  const made = await bodyOf(api.POST(`${oneApp}/secret`, { params, body: { keepOldSeconds } }));
  return { clientSecret: made.clientSecret!, oldSecretEndsAt: dateOf(made.oldSecretEndsAt) };
}

export async function endOldSecret({ api }: Remote, clientId: ClientId): Promise<void> {
  await api.DELETE(`${oneApp}/old-secret`, of(clientId));
}

export async function deleteApp({ api }: Remote, clientId: ClientId): Promise<void> {
  await api.DELETE(oneApp, of(clientId));
}
