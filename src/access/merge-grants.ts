import type { Prisma } from "../../generated/prisma/client.ts";
import { listMergedGroups, recordMergedApps } from "../directory/index.ts";
import type { Change, GroupId, Merged, MergerId, SchoolId } from "../directory/index.ts";
import { agreementStateOf } from "./agreements/acceptance.ts";
import type { AppAttribute } from "./attributes.ts";
import { findGrant, listGrants, setGrant, withdrawGrant } from "./grants/grant.ts";
import type { GrantKey, GrantSettings, SignOnAudience } from "./grants/grant.ts";
import type { ClientId } from "./token.ts";
import { chosenBySchool, listWithheld, setWithheld } from "./withheld.ts";

type Sides = { from: SchoolId; into: SchoolId };

export type MergedApp = {
  clientId: ClientId;
  outcome: "MOVED" | "JOINED" | "LEFT_BEHIND";
  losesAudience: boolean;
};

const mostGrants = 10_000;
const grantsOf = ({ tx }: Change, schoolId: SchoolId) => listGrants(tx, { schoolId, limit: mostGrants });

const groupsOf = (signOn: SignOnAudience): readonly GroupId[] => (signOn.kind === "GROUPS" ? signOn.groups : []);
const audienceOf = (groups: readonly GroupId[]): SignOnAudience =>
  groups.length === 0 ? { kind: "NOBODY" } : { kind: "GROUPS", groups };

/** The audience at the receiving school: nobody whom neither school let sign in. */
function joinAudiences(source: SignOnAudience, own: SignOnAudience, groups: readonly GroupId[]): SignOnAudience {
  if (own.kind === "EVERYBODY" || own.kind === "ROLES") return own;
  return audienceOf([...groupsOf(own), ...(source.kind === "EVERYBODY" ? groups : groupsOf(source))]);
}

const losesAudience = (source: SignOnAudience, joined: SignOnAudience): boolean =>
  source.kind === "ROLES" &&
  joined.kind !== "EVERYBODY" &&
  !(joined.kind === "ROLES" && source.roles.every((role) => joined.roles.includes(role)));

const withheldAt = async ({ tx }: Change, key: GrantKey): Promise<AppAttribute[]> =>
  chosenBySchool(await listWithheld(tx, key));

type Rules = { demandsAgreements: boolean };

/** Grants an app at the receiving school what the other school granted, for the groups that moved and nobody else. */
async function grantForMerged(
  change: Change,
  { source, into, groups, demandsAgreements }: { source: GrantSettings; into: SchoolId; groups: GroupId[] } & Rules,
): Promise<MergedApp & { isNew: boolean }> {
  const { clientId, schoolId: from } = source;
  const key = { clientId, schoolId: into };
  const own = await findGrant(change.tx, key);
  const withheldThere = await withheldAt(change, { clientId, schoolId: from });
  const withheldHere = await withheldAt(change, key);
  const none = { ...key, sync: false, syncedGroups: [], signOn: { kind: "NOBODY" } } as const;
  const base: GrantSettings = own ?? none;
  const signOn = joinAudiences(source.signOn, base.signOn, groups);
  const agreed =
    !demandsAgreements || !source.sync || own?.sync === true || (await agreementStateOf(change.tx, key)) === "CURRENT";
  const withholdsLess = own !== null && withheldThere.some((item) => !withheldHere.includes(item));
  const sharesNothing = own !== null && source.sync && !own.sync;
  const app = { clientId, isNew: own === null, losesAudience: losesAudience(source.signOn, base.signOn) };
  if (!agreed || withholdsLess || sharesNothing) return { ...app, outcome: "LEFT_BEHIND" };
  if (own === null && withheldThere.length > 0)
    await setWithheld(change, { ...key, attributes: [...new Set([...withheldHere, ...withheldThere])] });
  const moved = source.sync ? source.syncedGroups : [];
  const settings = { ...base, sync: base.sync || source.sync, syncedGroups: [...base.syncedGroups, ...moved], signOn };
  await setGrant(change, settings);
  return { ...app, outcome: own === null ? "MOVED" : "JOINED" };
}

/** Withdraws the grants of a school, lets `move` merge it into another one, and makes them there again. */
export async function mergeGrants(
  change: Change,
  { from, into, demandsAgreements }: Sides & Rules,
  move: () => Promise<Merged>,
): Promise<{ merged: Merged; apps: MergedApp[] }> {
  const { prisma } = change.tx;
  const all = await grantsOf(change, from);
  for (const { clientId } of all) await withdrawGrant(change, { clientId, schoolId: from });
  const merged = await move();
  const apps: MergedApp[] = [];
  for (const source of all) {
    const { isNew, ...app } = await grantForMerged(change, {
      source,
      into,
      groups: merged.groupIds,
      demandsAgreements,
    });
    apps.push(app);
    const settings = source as unknown as Prisma.InputJsonObject;
    await prisma.mergedGrant.create({ data: { mergerId: merged.id, clientId: source.clientId, isNew, settings } });
  }
  const count = apps.filter(({ outcome }) => outcome !== "LEFT_BEHIND").length;
  await recordMergedApps(change.tx, merged.id, count);
  return { merged, apps };
}

/** Takes the groups out of the grants of the receiving school, lets `move` undo the merger, and grants as before it. */
export async function separateGrants(
  change: Change,
  { id, from, into }: Sides & { id: MergerId },
  move: () => Promise<void>,
): Promise<void> {
  const { prisma } = change.tx;
  const groups = new Set(await listMergedGroups(change.tx, id));
  const without = (ids: readonly GroupId[]) => ids.filter((id) => !groups.has(id));
  const before = await prisma.mergedGrant.findMany({ where: { mergerId: id }, orderBy: { clientId: "asc" } });
  const isNew = new Set(before.filter((grant) => grant.isNew).map(({ clientId }) => clientId));
  for (const grant of await grantsOf(change, into)) {
    const syncedGroups = without(grant.syncedGroups);
    const signOn = grant.signOn.kind === "GROUPS" ? audienceOf(without(grant.signOn.groups)) : grant.signOn;
    if (isNew.has(grant.clientId) && syncedGroups.length === 0 && signOn.kind === "NOBODY")
      await withdrawGrant(change, grant);
    else await setGrant(change, { ...grant, syncedGroups, signOn });
  }
  await move();
  const movedBack = await prisma.group.findMany({ where: { schoolId: from, id: { in: [...groups] } } });
  const only = (ids: readonly GroupId[]) => ids.filter((id) => movedBack.some((group) => group.id === id));
  for (const { settings } of before) {
    const grant = settings as unknown as GrantSettings;
    if ((await findGrant(change.tx, grant)) !== null) continue;
    const signOn = grant.signOn.kind === "GROUPS" ? audienceOf(only(grant.signOn.groups)) : grant.signOn;
    await setGrant(change, { ...grant, syncedGroups: only(grant.syncedGroups), signOn });
  }
}
