import type { ClientId, GrantKey, GrantSettings, SignOnAudience } from "../../access/index.ts";
import type { GroupId, PersonRole, SchoolId } from "../../directory/index.ts";
import { AppError } from "../../platform/errors.ts";
import {
  bodyOf,
  firstEntries,
  fromLatest,
  given,
  tagged,
  type IfMatch,
  type Remote,
  type Schemas,
} from "../admin-api.ts";

const oneGrant = "/admin/v1/schools/{schoolId}/grants/{clientId}";

function audienceOf({ kind, roles, groupIds }: Schemas["SignOnAudience"]): SignOnAudience {
  if (kind === "ROLES") return { kind, roles: roles as [PersonRole, ...PersonRole[]] };
  return kind === "GROUPS" ? { kind, groups: groupIds as GroupId[] } : { kind };
}

/** Shape: fields in the order in which they are printed. */
const grantOf = ({ clientId, schoolId, signOn, sync, syncedGroupIds }: Schemas["Grant"]): GrantSettings => ({
  clientId: clientId as ClientId,
  schoolId: schoolId as SchoolId,
  sync,
  signOn: audienceOf(signOn),
  syncedGroups: syncedGroupIds as GroupId[],
});

const readGrant = ({ api }: Remote, path: GrantKey) => tagged(api.GET(oneGrant, { params: { path } }));

export const findGrant = async (remote: Remote, key: GrantKey): Promise<GrantSettings> =>
  grantOf((await readGrant(remote, key)).record);

const nothing = { signOn: { kind: "NOBODY" }, sync: false, syncedGroups: [] } as const;

async function findOrNothing(remote: Remote, key: GrantKey): Promise<{ before: GrantSettings; ifMatch: IfMatch }> {
  try {
    const { record, ifMatch } = await readGrant(remote, key);
    return { before: grantOf(record), ifMatch };
  } catch (error) {
    if (!(error instanceof AppError) || error.code !== "grant_not_found") throw error;
    return { before: { ...key, ...nothing }, ifMatch: {} };
  }
}

function writtenAudience(signOn: SignOnAudience): Schemas["NewSignOnAudience"] {
  if (signOn.kind === "ROLES") return { kind: signOn.kind, roles: [...signOn.roles] };
  return signOn.kind === "GROUPS" ? { kind: signOn.kind, groupIds: [...signOn.groups] } : { kind: signOn.kind };
}

/** Changes what a school gives an app; nothing is the beginning. Answers how it was and is. */
export async function changeGrant(
  remote: Remote,
  { clientId, schoolId }: GrantKey,
  change: (before: GrantSettings) => Partial<GrantSettings>,
): Promise<{ before: GrantSettings; after: GrantSettings }> {
  return fromLatest(async () => {
    const path = { clientId, schoolId };
    const { before, ifMatch } = await findOrNothing(remote, path);
    const after = { ...before, ...change(before) };
    const { signOn, sync, syncedGroups } = after;
    const body = { signOn: writtenAudience(signOn), sync, syncedGroupIds: [...new Set(syncedGroups)] };
    await remote.api.PUT(oneGrant, { params: { path, header: ifMatch }, body });
    return { before, after };
  });
}

export async function withdrawGrant({ api }: Remote, path: GrantKey): Promise<void> {
  await api.DELETE(oneGrant, { params: { path } });
}

type Asked = { clientId: string | undefined; schoolId: SchoolId | undefined; limit: number };

export async function listGrants({ api }: Remote, { clientId, schoolId, limit }: Asked): Promise<GrantSettings[]> {
  const query = given({ app: clientId, school: schoolId });
  const read = (page: object) => api.GET("/admin/v1/grants", { params: { query: { ...query, ...page } } });
  return (await firstEntries(read, { limit })).map(grantOf);
}

/** The groups of these ids. */
export async function findSynced({ api }: Remote, groups: readonly GroupId[]): Promise<Schemas["AdminGroup"][]> {
  const found: Schemas["AdminGroup"][] = [];
  for (const groupId of groups)
    found.push(await bodyOf(api.GET("/admin/v1/groups/{groupId}", { params: { path: { groupId } } })));
  return found;
}
