import type { AdminSchemas } from "../../admin/index.ts";
import { revokeLoginCard, take, type Gone, type Visit } from "../frame/index.ts";
import { readName } from "./new-person.ts";
import { addressOf, pathOf } from "./record.ts";

type PersonUpdate = AdminSchemas["PersonUpdate"];
type Answer = Promise<{ data?: unknown; error?: unknown; response: Response }>;

/** Does something that needs nothing but the person, and goes back to their page. */
const simple =
  (done: string, call: (visit: Visit, params: { path: { personId: string } }) => Answer) =>
  async (visit: Visit): Promise<Gone> => {
    await take(call(visit, { path: pathOf(visit) }));
    return { to: addressOf(visit), done };
  };

const at = "/admin/v1/people/{personId}";
export const block = simple("personBlocked", ({ api }, params) => api.POST(`${at}/block`, { params }));
export const unblock = simple("personUnblocked", ({ api }, params) => api.DELETE(`${at}/block`, { params }));
export const signOut = simple("personSignedOut", ({ api }, params) => api.POST(`${at}/sign-out`, { params }));
export const restore = simple("personRestored", ({ api }, params) => api.POST(`${at}/restoration`, { params }));

export const dismissRequests = simple("requestsDismissed", ({ api }, params) =>
  api.DELETE(`${at}/login/password-request`, { params }),
);

/** Asks the home school of a guest for a new password. */
export const requestPassword = simple("passwordRequested", ({ api, part }, params) =>
  api.POST(`${at}/login/password-request`, { params, body: { schoolId: part("schoolId") } }),
);

export const removeFactors = simple("factorsRemoved", ({ api }, params) =>
  api.DELETE(`${at}/second-factors`, { params }),
);

/** Ends a card that was lost. */
export async function revokeCard(visit: Visit): Promise<Gone> {
  await revokeLoginCard(visit);
  return { to: addressOf(visit), done: "cardRevoked" };
}

/** Changes name, role and identifier as they stand in the form. */
export async function changeDetails(visit: Visit): Promise<Gone> {
  const { api, field } = visit;
  const source = field("sourceId");
  const body: PersonUpdate = {
    role: field("role") as NonNullable<PersonUpdate["role"]>,
    name: readName(visit),
    sourceSystemIdentifier: source === "" ? null : source,
  };
  const params = { path: pathOf(visit), header: { "If-Match": field("tag") } };
  await take(api.PATCH("/admin/v1/people/{personId}", { params, body }));
  return { to: addressOf(visit), done: "personChanged" };
}

const membership = "/admin/v1/groups/{groupId}/members/{personId}";

/** Puts the person into a group, and takes them out of the one that it stands for. */
export async function joinGroup(visit: Visit): Promise<Gone> {
  const { api, field } = visit;
  const [group, from] = [field("group"), field("from")];
  const pathTo = (groupId: string) => ({ path: { groupId, ...pathOf(visit) } });
  await take(api.PUT(membership, { params: pathTo(group), body: {} }));
  if (from !== "" && from !== group) await take(api.DELETE(membership, { params: pathTo(from) }));
  return { to: addressOf(visit), done: "groupJoined" };
}

export async function leaveGroup(visit: Visit): Promise<Gone> {
  const { api, part } = visit;
  await take(api.DELETE(membership, { params: { path: { groupId: part("groupId"), ...pathOf(visit) } } }));
  return { to: addressOf(visit), done: "groupLeft" };
}
