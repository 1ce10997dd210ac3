import fc from "fast-check";
import {
  appAttributes,
  askingApps,
  recordFirstSignIn,
  setGrant,
  setSignOn,
  setSync,
  setSyncedGroups,
  setWithheld,
  withdrawGrant,
} from "../../src/access/index.ts";
import type { ClientId, SignOnAudience } from "../../src/access/index.ts";
import {
  addMembership,
  createGroup,
  createPerson,
  deleteGroup,
  deletePerson,
  joinSchool,
  leaveSchool,
  movePerson,
  removeMembership,
  renameGroup,
  restoreGroup,
  restorePerson,
  setHomeSchool,
  setMembershipRole,
  softDeletePerson,
  updatePerson,
  updateSchool,
} from "../../src/directory/index.ts";
import type { Change, GroupId, PersonId, PersonRole, SchoolId } from "../../src/directory/index.ts";
import type { Db } from "../../src/platform/database/db.ts";
import { makeUuid } from "../../src/platform/crypto/ids.ts";

/** Who there is to act upon; numbers of a step choose among them, modulo how many there are. */
export type World = {
  clients: ClientId[];
  schools: SchoolId[];
  groups: { id: GroupId; school: SchoolId }[];
  people: PersonId[];
};

const roles = ["STUDENT", "TEACHER", "OTHER"] as const;
const kinds = ["NOBODY", "EVERYBODY", "ROLES", "GROUPS"] as const;
const verbs = [
  ...["createPerson", "updatePerson", "softDelete", "softDelete", "restore", "restore", "purge"],
  ...[
    "join",
    "leave",
    "move",
    "setHome",
    "join",
    "addMembership",
    "addMembership",
    "addMembership",
    "removeMembership",
    "setMembershipRole",
  ],
  ...["leave", "move", "wholeSchool", "changeGroupType"],
  ...["createGroup", "renameGroup", "deleteGroup", "restoreGroup", "restoreGroup", "updateSchool"],
  ...["setGrant", "setSync", "setSync", "setSignOn", "setSyncedGroups", "setSyncedGroups", "withdrawGrant"],
  ...["withhold", "withhold"],
] as const;

/** One thing that may happen; the numbers choose whom it happens to. */
export const deed = fc.record({
  verb: fc.constantFrom(...verbs),
  person: fc.nat(20),
  group: fc.nat(20),
  school: fc.nat(5),
  client: fc.nat(5),
  role: fc.constantFrom(...roles),
  kind: fc.constantFrom(...kinds),
  some: fc.array(fc.nat(20), { maxLength: 4 }),
  flag: fc.boolean(),
});
/** A deed with one of these verbs. */
export const deedOf = (verbs: readonly Deed["verb"][]): fc.Arbitrary<Deed> =>
  fc.record({ deed, verb: fc.constantFrom(...verbs) }).map(({ deed: made, verb }) => ({ ...made, verb }));
export type Deed = typeof deed extends fc.Arbitrary<infer Made> ? Made : never;

const pick = <T>(from: readonly T[], number: number): T => from[number % from.length]!;
const now = new Date("2026-02-03T08:00:00Z");
let names = 0;
const makeName = () => ({ firstFull: `First ${++names}`, firstCall: "First", last: `Last ${names}` });

type Doing = Record<(typeof verbs)[number], () => Promise<unknown>>;

export async function act(change: Change, world: World, { verb, ...to }: Deed): Promise<void> {
  const personId = pick(world.people, to.person);
  const group = pick(world.groups, to.group);
  const groupId = group.id;
  const schoolId = pick(world.schools, to.school);
  const key = { clientId: pick(world.clients, to.client), schoolId };
  const groups = [...new Set(to.some.map((number) => pick(world.groups, number)))]
    .filter(({ school }) => school === schoolId)
    .map(({ id }) => id);
  const signOn = {
    kind: to.kind,
    ...(to.kind === "ROLES" && { roles: [to.role] }),
    ...(to.kind === "GROUPS" && { groups }),
  } as SignOnAudience;
  const doing: Doing = {
    createPerson: async () => {
      const schools: [SchoolId, ...SchoolId[]] = [schoolId, ...(to.flag ? world.schools : [])];
      const id = await createPerson(change, {
        id: makeUuid(now) as PersonId,
        schools,
        role: to.role,
        name: makeName(),
      });
      world.people.push(id);
      for (const inside of groups) await addMembership(change, { groupId: inside, personId: id });
    },
    updatePerson: () =>
      updatePerson(change, {
        personId,
        ...pick([{ name: makeName() }, { role: to.role }, { sourceSystemIdentifier: `src-${++names}` }], to.group),
      }),
    softDelete: () => softDeletePerson(change, { personId, restoreWindowDays: 30 }),
    restore: () => restorePerson(change, { personId }),
    purge: () => deletePerson(change, { personId, forget: askingApps(() => Promise.resolve()) }),
    join: () => joinSchool(change, { personId, schoolId }),
    leave: () => leaveSchool(change, { personId, schoolId }),
    move: () => movePerson(change, { personId, to: schoolId }),
    setHome: () => setHomeSchool(change, { personId, schoolId }),
    addMembership: () => addMembership(change, { groupId, personId }),
    removeMembership: () => removeMembership(change, { groupId, personId }),
    setMembershipRole: () => setMembershipRole(change, { groupId, personId, role: to.role as PersonRole }),
    createGroup: async () => {
      const id = await createGroup(change, { schoolId, name: `Group ${++names}`, type: "KURS" });
      world.groups.push({ id, school: schoolId });
    },
    // Only imports do so.
    changeGroupType: async () => {
      await change.touch({ groups: [groupId] });
      await change.tx.query(`UPDATE "group" SET type = $2 WHERE id = $1`, [
        groupId,
        pick(["KLASSE", "KURS", "SONSTIG"], to.person),
      ]);
    },
    wholeSchool: () => change.touchSchool(schoolId),
    renameGroup: () => renameGroup(change, { groupId, name: `Group ${++names}` }),
    deleteGroup: () => deleteGroup(change, { groupId }),
    restoreGroup: () => restoreGroup(change, { groupId }),
    updateSchool: () =>
      updateSchool(change, {
        schoolId,
        ...pick(
          [
            { name: `School ${++names}` },
            { schoolingLevel: `LEVEL_${++names}` },
            { officialId: `DE-XX-${++names}-${schoolId}` },
            { address: { address: `Street ${++names}`, addressAddition: null, city: "Town", zipCode: "10115" } },
            { location: { country: "DE", state: `${++names}` } },
          ],
          to.group,
        ),
      }),
    setGrant: () => setGrant(change, { ...key, signOn, sync: to.flag, syncedGroups: groups }),
    setSync: () => setSync(change, { ...key, sync: to.flag }),
    setSignOn: () => setSignOn(change, { ...key, signOn }),
    setSyncedGroups: () => setSyncedGroups(change, { ...key, groups }),
    withdrawGrant: () => withdrawGrant(change, key),
    withhold: () =>
      setWithheld(change, { ...key, attributes: to.flag ? to.some.map((number) => pick(appAttributes, number)) : [] }),
  };
  await doing[verb]();
}

/** Nobody signs in who is deleted. */
export async function signIn(db: Pick<Db, "pool">, world: World, { person, client }: Deed, at = now): Promise<void> {
  const personId = pick(world.people, person);
  const { rowCount } = await db.pool.query("SELECT FROM person WHERE id = $1 AND status = 'SOFT_DELETED'", [personId]);
  if (rowCount === 0) await recordFirstSignIn(db, { clientId: pick(world.clients, client), personId, at });
}
