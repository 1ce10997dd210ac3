import type { ClientId, ScopeRequest, ScopeRequestId } from "../../access/index.ts";
import { bodyOf, dateOf, firstEntries, given, type Remote, type Schemas } from "../admin-api.ts";

const requestOf = ({ id, clientId, requestedAt, decidedAt, ...rest }: Schemas["ScopeRequest"]): ScopeRequest => ({
  ...rest,
  id: id as ScopeRequestId,
  clientId: clientId as ClientId,
  requestedAt: new Date(requestedAt),
  decidedAt: dateOf(decidedAt),
});

type Asked = {
  clientId: ClientId | undefined;
  state: ScopeRequest["state"] | undefined;
  after: string | undefined;
  limit: number;
};

export async function listScopeRequests(
  { api }: Remote,
  { clientId, state, after, limit }: Asked,
): Promise<ScopeRequest[]> {
  const asked = given({ app: clientId, state });
  const read = (page: object) => api.GET("/admin/v1/scope-requests", { params: { query: { ...asked, ...page } } });
  return (await firstEntries(read, { limit, after, idOf: ({ id }) => id })).map(requestOf);
}

const oneRequest = "/admin/v1/scope-requests/{scopeRequestId}";

export async function approveScopeRequest(
  { api }: Remote,
  scopeRequestId: string,
  note: string | undefined,
): Promise<ScopeRequest> {
  const params = { path: { scopeRequestId } };
  return requestOf(
    await bodyOf(api.POST(`${oneRequest}/approval`, { params, ...(note !== undefined && { body: { note } }) })),
  );
}

export async function refuseScopeRequest({ api }: Remote, scopeRequestId: string, note: string): Promise<ScopeRequest> {
  const params = { path: { scopeRequestId } };
  return requestOf(await bodyOf(api.POST(`${oneRequest}/refusal`, { params, body: { note } })));
}
