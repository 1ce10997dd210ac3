import type { AdminSchemas } from "../../admin/index.ts";
import {
  postAndRedirect,
  requestPassword,
  requireFields,
  revokeLoginCard,
  unwrap,
  type PageRequest,
  type Redirect,
} from "../frame/index.ts";
import { readName } from "./new-person.ts";
import { addressOf } from "./record.ts";

type PersonUpdate = AdminSchemas["PersonUpdate"];

const at = "/admin/v1/people/{personId}";
const membership = "/admin/v1/groups/{groupId}/members/{personId}";

export const block = postAndRedirect("personBlocked", addressOf, ({ api, path }) =>
  api.POST(`${at}/block`, { params: { path } }),
);

export const unblock = postAndRedirect("personUnblocked", addressOf, ({ api, path }) =>
  api.DELETE(`${at}/block`, { params: { path } }),
);

export const signOut = postAndRedirect("personSignedOut", addressOf, ({ api, path }) =>
  api.POST(`${at}/sign-out`, { params: { path } }),
);

export const restore = postAndRedirect("personRestored", addressOf, ({ api, path }) =>
  api.POST(`${at}/restoration`, { params: { path } }),
);

export const dismissRequests = postAndRedirect("requestsDismissed", addressOf, ({ api, path }) =>
  api.DELETE(`${at}/login/password-request`, { params: { path } }),
);

export const askHomeSchool = postAndRedirect("passwordRequested", addressOf, requestPassword);

export const removeFactors = postAndRedirect("factorsRemoved", addressOf, ({ api, path }) =>
  api.DELETE(`${at}/second-factors`, { params: { path } }),
);

export const release = postAndRedirect("waitEnded", addressOf, ({ api, path }) =>
  api.POST(`${at}/login/release`, { params: { path } }),
);

export const revokeCard = postAndRedirect("cardRevoked", addressOf, revokeLoginCard);

export const leaveGroup = postAndRedirect("groupLeft", addressOf, ({ api, path }) =>
  api.DELETE(membership, { params: { path } }),
);

export const changeDetails = postAndRedirect("personChanged", addressOf, (request) => {
  const { api, path, field } = request;
  const body: PersonUpdate = {
    role: field("role") as NonNullable<PersonUpdate["role"]>,
    name: readName(request),
    sourceSystemIdentifier: field("sourceId") || null,
  };
  return api.PATCH(at, { params: { path, header: { "If-Match": field("tag") } }, body });
});

/** Adds the person to a group and removes them from the one that it replaces. */
export async function joinGroup(request: PageRequest): Promise<Redirect> {
  const { api, field, path } = request;
  requireFields(request, "group");
  const [group, from] = [field("group"), field("from")];
  const pathTo = (groupId: string) => ({ path: { ...path, groupId } });
  await unwrap(api.PUT(membership, { params: pathTo(group), body: {} }));
  if (from !== "" && from !== group) await unwrap(api.DELETE(membership, { params: pathTo(from) }));
  return { to: addressOf(request), done: "groupJoined" };
}
