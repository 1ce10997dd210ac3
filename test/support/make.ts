import {
  changeDirectory,
  createApp,
  findApp,
  publishDraft,
  recordFirstSignIn,
  setGrant,
  setWithheld,
  writeDraft,
} from "../../src/access/index.ts";
import type {
  Agreement,
  AppAttribute,
  ClientId,
  NewApp,
  ScopeName,
  SignOnAudience,
  WithheldItem,
} from "../../src/access/index.ts";
import {
  addMembership,
  createGroup,
  createPerson,
  createSchool,
  deleteGroup,
  makePersonSortKey,
  restoreGroup,
  softDeletePerson,
} from "../../src/directory/index.ts";
import type {
  Change,
  GroupId,
  NewGroup,
  NewMembership,
  NewPerson,
  NewSchool,
  PersonId,
  PersonName,
  PersonRole,
  SchoolId,
} from "../../src/directory/index.ts";
import { withPrismaTransaction, withTransaction } from "../../src/platform/database/db.ts";
import type { Db, PrismaDb } from "../../src/platform/database/db.ts";
import { makeUuid } from "../../src/platform/crypto/ids.ts";
import { blockPerson } from "./sign-ins.ts";

export const allScopes: ScopeName[] = [
  ...(["openid", "offline_access", "profile", "school", "role", "groups"] as const),
  ...(["schools:read", "users:read", "groups:read", "people:read"] as const),
];

type PersonWishes = Partial<Omit<NewPerson, "schools">> & {
  school?: SchoolId;
  schools?: [SchoolId, ...SchoolId[]];
  groups?: GroupId[];
  status?: "ACTIVE" | "SOFT_DELETED";
  isBlocked?: boolean;
};

type GrantWishes = {
  app: ClientId;
  school: SchoolId;
  signOn?: SignOnAudience["kind"] | SignOnAudience;
  sync?: boolean;
  groups?: GroupId[];
};

export type Make = ReturnType<typeof makeMakers>;

/**
 * Rows with sensible defaults, made with the same functions as in the service, so that apps get their events. Each
 * call commits.
 */
export function makeMakers(db: PrismaDb, now = new Date("2026-02-03T08:00:00Z")) {
  const origin = { at: now, actorId: "test" };
  let count = 0;
  const next = () => ++count;
  const inChange = <T>(work: (change: Change) => Promise<T>): Promise<T> => changeDirectory(db, origin, work);
  const inChangeOf = <T>(schools: readonly SchoolId[], work: (change: Change) => Promise<T>): Promise<T> =>
    inChange(async (change) => work((await hasGrants(change, schools)) ? change : withoutComparing(change)));

  const school = (wishes: Partial<NewSchool> = {}): Promise<SchoolId> => {
    const n = next();
    const made: NewSchool = {
      name: `School ${n}`,
      officialId: `DE-XX-${n}-${makeUuid(now).slice(-8)}`,
      address: { address: `Street ${n}`, addressAddition: null, city: "Town", zipCode: "10115" },
      location: { country: "DE", state: "NI" },
      schoolingLevel: "GYMNASIUM",
      ...wishes,
    };
    return inChangeOf([], (change) => createSchool(change, made));
  };

  const group = (wishes: Partial<NewGroup> & { school: SchoolId; status?: "ACTIVE" | "DELETED" }): Promise<GroupId> => {
    const { school: schoolId, status, ...rest } = wishes;
    return inChangeOf([schoolId], async (change) => {
      const id = await createGroup(change, { name: `Group ${next()}`, type: "KLASSE", ...rest, schoolId });
      if (status === "DELETED") await deleteGroup(change, { groupId: id });
      return id;
    });
  };

  const person = async (wishes: PersonWishes): Promise<PersonId> => {
    const { school: home, groups = [], status, isBlocked, ...rest } = wishes;
    const schools = wishes.schools ?? [home!];
    const made = await inChangeOf(schools, async (change) => {
      const id = await createPerson(change, { role: "STUDENT", name: makeName(next()), ...rest, schools });
      for (const groupId of groups) await putIntoGroup(change, { groupId, personId: id });
      if (status === "SOFT_DELETED") await softDeletePerson(change, { personId: id, restoreWindowDays: 30 });
      return id;
    });
    if (isBlocked) await blockPerson(db, made, origin);
    return made;
  };

  const membership = (of: { group: GroupId; person: PersonId; role?: PersonRole }): Promise<void> =>
    inChange((change) => putIntoGroup(change, { groupId: of.group, personId: of.person, role: of.role }));

  const app = async (
    wishes: Partial<NewApp> = {},
  ): Promise<{ clientId: ClientId; clientSecret: string | null; redirectUri: string }> => {
    const redirectUri = wishes.redirectUris?.[0] ?? "http://127.0.0.1:4999/callback";
    const made: NewApp = {
      name: `App ${next()}`,
      type: "CONFIDENTIAL",
      scopes: allScopes,
      subjectType: "SHARED",
      redirectUris: [redirectUri],
      ...wishes,
    };
    const registered = await withPrismaTransaction(db, (tx) =>
      createApp(tx, made, { ...origin, allowLoopbackHttp: true }),
    );
    return { ...registered, redirectUri };
  };

  /** Everybody may sign in and the school syncs, unless wished otherwise. */
  const grant = ({
    app: clientId,
    school: schoolId,
    signOn = "EVERYBODY",
    sync = true,
    groups = [],
  }: GrantWishes): Promise<void> => {
    const audience = typeof signOn === "string" ? ({ kind: signOn } as SignOnAudience) : signOn;
    return inChange((change) =>
      setGrant(touchFew(change), { clientId, schoolId, signOn: audience, sync, syncedGroups: groups }),
    );
  };

  /** The attributes that the school switches off for the app. */
  const withheld = (of: { app: ClientId; school: SchoolId; attributes: readonly AppAttribute[] }): Promise<boolean> =>
    inChange((change) => setWithheld(change, { clientId: of.app, schoolId: of.school, attributes: of.attributes }));

  /** What the app got after the school had agreed. */
  const notAgreed = async (of: { app: ClientId; school: SchoolId; items: readonly WithheldItem[] }): Promise<void> => {
    const key = { clientId: of.app, schoolId: of.school, reason: "NOT_AGREED" as const, since: now };
    await db.prisma.withheldItem.createMany({ data: of.items.map((item) => ({ ...key, item })) });
  };

  /** Publishes an agreement that says of everything the app has that it is optional. */
  const agreement = (clientId: ClientId, version = "2026"): Promise<Agreement> =>
    withPrismaTransaction(db, async (tx) => {
      const { attributes, scopes } = (await findApp(tx, clientId))!;
      const need = { isRequired: false, purpose: { de: "Für den Unterricht", en: "For lessons" } };
      const draft = {
        version,
        text: "§ 1 Gegenstand",
        deletionPeriods: { de: "30 Tage nach dem Ende der Nutzung" },
        subprocessors: [{ name: "Rechenzentrum Nord GmbH", country: "DE", purpose: "Hosting" }],
        attributes: attributes.map((attribute) => ({ attribute, ...need })),
        scopes: scopes.map((scope) => ({ scope, ...need })),
      };
      await writeDraft(tx, { clientId, ...draft }, origin);
      return publishDraft(tx, clientId, origin);
    });

  const signIn = (of: { app: ClientId; person: PersonId }): Promise<void> =>
    recordFirstSignIn(db, { clientId: of.app, personId: of.person, at: now });

  /**
   * Many students at once, each in the next `groupsEach` of the groups; 100,000 take a few seconds. Apps get no
   * events.
   */
  const people = async (of: {
    school: SchoolId;
    count: number;
    groups?: GroupId[];
    groupsEach?: number;
  }): Promise<PersonId[]> => {
    const { groups = [], groupsEach = groups.length } = of;
    const ids: PersonId[] = [];
    for (let from = 0; from < of.count; from += chunk) {
      ids.push(
        ...(await insertPeople(db, {
          ...of,
          count: Math.min(chunk, of.count - from),
          first: from,
          groups,
          groupsEach,
          now,
        })),
      );
    }
    return ids;
  };

  return { school, group, person, membership, app, grant, withheld, notAgreed, agreement, signIn, people };
}

/** A deleted group keeps the members it had: one who is to be among them comes while it is back for a moment. */
async function putIntoGroup(change: Change, membership: NewMembership): Promise<void> {
  const { groupId } = membership;
  const { rowCount } = await change.tx.query(`SELECT FROM "group" WHERE id = $1 AND status = 'DELETED'`, [groupId]);
  if (rowCount === 1) await restoreGroup(change, { groupId });
  await addMembership(change, membership);
  if (rowCount === 1) await deleteGroup(change, { groupId });
}

/** Whether an app may see anything of these schools. Like a change of them, it waits for others that make grants. */
async function hasGrants({ tx }: Change, schools: readonly SchoolId[]): Promise<boolean> {
  if (schools.length === 0) return false;
  await tx.query("SELECT pg_advisory_xact_lock(hashtextextended('change ' || id, 0)) FROM unnest($1::uuid[]) AS id", [
    schools.toSorted(),
  ]);
  const { rowCount } = await tx.query(`SELECT FROM "grant" WHERE school_id = ANY ($1) LIMIT 1`, [schools]);
  return rowCount === 1;
}

/** Skips the comparison, because apps see nothing of schools without grants, before or after the change. */
const withoutComparing = (change: Change): Change => ({
  ...change,
  touch: () => Promise.resolve(),
  touchSchool: () => Promise.resolve(),
});

/** Touches the few records of a school one by one, which takes a tenth of the time that whole schools take. */
const touchFew = (change: Change): Change => ({
  ...change,
  async touchSchool(schoolId, clientId) {
    const { rows } = await change.tx.query<{ groups: GroupId[]; people: PersonId[] }>(
      `SELECT ARRAY(SELECT id FROM "group" WHERE school_id = $1) AS groups,
       ARRAY(SELECT person_id FROM affiliation WHERE school_id = $1) AS people`,
      [schoolId],
    );
    const { groups, people } = rows[0]!;
    if (groups.length + people.length > 100) return change.touchSchool(schoolId, clientId);
    await change.touch({ schools: [schoolId], groups, people });
  },
});

const chunk = 20_000;
const firstNames = ["Ada Marie", "Bo Emil", "Cem", "Dana Luise", "Elif", "Finn Ole", "Änne", "Øyvind", "Łucja", "Zoë"];
const lastNames = [
  "Muster",
  "Beispiel",
  "Müller",
  "Groß",
  "de Vries",
  "Öztürk",
  "O'Neill",
  "Schmidt-Rot",
  "Nguyễn",
  "Zander",
];

function makeName(n: number): PersonName {
  const firstFull = firstNames[n % firstNames.length]!;
  return {
    firstFull,
    firstCall: firstFull.split(" ")[0]!,
    last: `${lastNames[Math.floor(n / 10) % lastNames.length]!} ${n}`,
  };
}

type Batch = { school: SchoolId; count: number; first: number; groups: GroupId[]; groupsEach: number; now: Date };

async function insertPeople(db: Pick<Db, "pool">, batch: Batch): Promise<PersonId[]> {
  const rows = Array.from({ length: batch.count }, (_, index) => {
    const name = makeName(batch.first + index);
    return {
      id: makeUuid(batch.now) as PersonId,
      affiliation: makeUuid(batch.now),
      name,
      sortKey: makePersonSortKey(name),
    };
  });
  const memberships = rows.flatMap(({ id }, index) =>
    Array.from({ length: batch.groupsEach }, (_, step) => ({
      id,
      group: batch.groups[(index + step) % batch.groups.length]!,
    })),
  );
  await withTransaction(db, async (tx) => {
    await tx.query("SET LOCAL statement_timeout = 0");
    await tx.query(
      `INSERT INTO person (id, home_school_id, role, first_full, first_call, last, sort_key, created_at, updated_at)
       SELECT id, $1, 'STUDENT', first_full, first_call, last, sort_key, $7, $7
       FROM unnest($2::uuid[], $3::text[], $4::text[], $5::text[], $6::text[]) AS row (id, first_full, first_call, last, sort_key)`,
      [
        batch.school,
        rows.map((row) => row.id),
        rows.map((row) => row.name.firstFull),
        rows.map((row) => row.name.firstCall),
        rows.map((row) => row.name.last),
        rows.map((row) => row.sortKey),
        batch.now,
      ],
    );
    await tx.query(
      `INSERT INTO affiliation (id, person_id, school_id) SELECT id, person_id, $1
       FROM unnest($2::uuid[], $3::uuid[]) AS row (id, person_id)`,
      [batch.school, rows.map((row) => row.affiliation), rows.map((row) => row.id)],
    );
    await tx.query(
      `INSERT INTO membership (group_id, person_id, school_id, role) SELECT group_id, person_id, $1, 'STUDENT'
       FROM unnest($2::uuid[], $3::uuid[]) AS row (group_id, person_id)`,
      [batch.school, memberships.map((row) => row.group), memberships.map((row) => row.id)],
    );
  });
  return rows.map((row) => row.id);
}
