import type { AdminSchemas } from "../../admin/index.ts";
import { revokeLoginCard, unwrap, type Redirect, type PageRequest } from "../frame/index.ts";
import { readName } from "./new-person.ts";
import { addressOf, pathOf } from "./record.ts";

type PersonUpdate = AdminSchemas["PersonUpdate"];
type Answer = Promise<{ data?: unknown; error?: unknown; response: Response }>;

/** An action that needs only the person and returns to their page. */
const simple =
  (done: string, call: (request: PageRequest, params: { path: { personId: string } }) => Answer) =>
  async (request: PageRequest): Promise<Redirect> => {
    await unwrap(call(request, { path: pathOf(request) }));
    return { to: addressOf(request), done };
  };

const at = "/admin/v1/people/{personId}";
export const block = simple("personBlocked", ({ api }, params) => api.POST(`${at}/block`, { params }));
export const unblock = simple("personUnblocked", ({ api }, params) => api.DELETE(`${at}/block`, { params }));
export const signOut = simple("personSignedOut", ({ api }, params) => api.POST(`${at}/sign-out`, { params }));
export const restore = simple("personRestored", ({ api }, params) => api.POST(`${at}/restoration`, { params }));

export const dismissRequests = simple("requestsDismissed", ({ api }, params) =>
  api.DELETE(`${at}/login/password-request`, { params }),
);

/** Asks a guest's home school for a new password. */
export const requestPassword = simple("passwordRequested", ({ api, param }, params) =>
  api.POST(`${at}/login/password-request`, { params, body: { schoolId: param("schoolId") } }),
);

export const removeFactors = simple("factorsRemoved", ({ api }, params) =>
  api.DELETE(`${at}/second-factors`, { params }),
);

export async function revokeCard(request: PageRequest): Promise<Redirect> {
  await revokeLoginCard(request);
  return { to: addressOf(request), done: "cardRevoked" };
}

export async function changeDetails(request: PageRequest): Promise<Redirect> {
  const { api, field } = request;
  const source = field("sourceId");
  const body: PersonUpdate = {
    role: field("role") as NonNullable<PersonUpdate["role"]>,
    name: readName(request),
    sourceSystemIdentifier: source === "" ? null : source,
  };
  const params = { path: pathOf(request), header: { "If-Match": field("tag") } };
  await unwrap(api.PATCH("/admin/v1/people/{personId}", { params, body }));
  return { to: addressOf(request), done: "personChanged" };
}

const membership = "/admin/v1/groups/{groupId}/members/{personId}";

/** Adds the person to a group and removes them from the one that it replaces. */
export async function joinGroup(request: PageRequest): Promise<Redirect> {
  const { api, field } = request;
  const [group, from] = [field("group"), field("from")];
  const pathTo = (groupId: string) => ({ path: { groupId, ...pathOf(request) } });
  await unwrap(api.PUT(membership, { params: pathTo(group), body: {} }));
  if (from !== "" && from !== group) await unwrap(api.DELETE(membership, { params: pathTo(from) }));
  return { to: addressOf(request), done: "groupJoined" };
}

export async function leaveGroup(request: PageRequest): Promise<Redirect> {
  const { api, param } = request;
  await unwrap(api.DELETE(membership, { params: { path: { groupId: param("groupId"), ...pathOf(request) } } }));
  return { to: addressOf(request), done: "groupLeft" };
}
