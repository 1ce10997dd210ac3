import { giveLogin } from "../../test/support/token.ts";
import { makePortalUser, type PortalUser } from "../../test/support/portal.ts";
import type { TestService } from "../../test/support/service.ts";
import type { PersonId } from "../../src/directory/index.ts";
import type { World } from "./sign-ons.ts";

export const staffCount = 4;
const [members, auditLines] = [200, 10_000];

/** Some who run the school, with a class of 200 whose pupils may get cards, and a pupil about whom much is stored. */
export async function prepareStaff({
  service,
  db,
  make,
  school,
}: World): Promise<{ users: PortalUser[]; classAddress: string; personAddress: string; auditFile: string }> {
  const base = `/admin/schools/${school}`;
  const group = await make.group({ school, name: "Jahrgang 5" });
  const ids: PersonId[] = await make.people({ school, count: members, groups: [group], groupsEach: 1 });
  const first = ids[0]!;
  await giveLogin(db, first);
  await db.pool.query(
    `INSERT INTO credential (person_id, username, password_hash, updated_at)
     SELECT id, 'user-' || id, password_hash, updated_at FROM unnest($2::uuid[]) id, credential WHERE person_id = $1`,
    [first, ids.slice(1)],
  );
  await db.prisma.cardSettings.create({
    data: {
      schoolId: school,
      enabled: true,
      grades: [],
      weekdays: [],
      networks: [],
      secondStep: "PIN",
      printSecondStep: true,
      updatedAt: new Date(),
    },
  });
  await db.pool.query(
    `INSERT INTO audit (id, at, action, actor_id, person_id, school_id, before, after)
     SELECT gen_random_uuid(), now() - n * interval '1 second', 'person_changed', 'person:' || $1::uuid, $1::uuid, $2,
       '{"name":{"last":"Muster"}}', '{"name":{"last":"Muster-Beispiel"}}' FROM generate_series(1, $3::int) n`,
    [first, school, auditLines],
  );
  const asked = { url: service.url, db, clock: () => new Date() } as unknown as TestService;
  const users = await Promise.all(
    Array.from({ length: staffCount }, () => makePortalUser(asked, "SCHOOL_ADMIN", { schoolIds: [school] })),
  );
  return {
    users,
    classAddress: `${base}/classes/${group}`,
    personAddress: `${base}/people/${first}`,
    auditFile: `${base}/audit/file`,
  };
}

/** Lets each do the same again and again until the signal aborts; counts what was done. */
export async function repeatEach(
  users: readonly PortalUser[],
  signal: AbortSignal,
  work: (user: PortalUser, turn: number) => Promise<void>,
): Promise<void> {
  await Promise.all(
    users.map(async (user) => {
      for (let turn = 0; !signal.aborted; turn++) await work(user, turn);
    }),
  );
}
