import { hash, randomBytes } from "node:crypto";
import type { PersonId } from "../../src/directory/index.ts";
import type { PrismaDb } from "../../src/platform/database/db.ts";
import { type Authenticator, makeAuthenticator } from "../../test/support/authenticator.ts";
import { makeUserHandles } from "../../test/support/user-handle.ts";
import { everywhere } from "../size/worlds.ts";

export type Pupil = { personId: PersonId; username: string; cardToken: string };

/** Gives a login card to everybody who signs in with a password and holds no role of the staff. */
export async function makePupils(db: PrismaDb): Promise<Pupil[]> {
  const { rows } = await db.pool.query<{ personId: PersonId; schoolId: string; username: string }>(
    `SELECT c.person_id AS "personId", p.home_school_id AS "schoolId", c.username
     FROM credential c JOIN person p ON p.id = c.person_id JOIN sign_in s ON s.person_id = p.id AND s.client_id = $1
     WHERE p.status = 'ACTIVE' AND p.blocked_at IS NULL AND NOT c.must_change
       AND (SELECT count(*) FROM affiliation a WHERE a.person_id = p.id) = 1
       AND NOT EXISTS (SELECT FROM staff_role r WHERE r.person_id = p.id)
     ORDER BY md5(c.username)`,
    [everywhere],
  );
  const pupils = rows.map((row) => ({ ...row, cardToken: randomBytes(18).toString("base64url") }));
  await db.pool.query(
    `INSERT INTO card_settings (school_id, enabled, grades, weekdays, networks, second_step, print_second_step, updated_at)
     SELECT id, true, '{}', '{}', '{}', 'NONE', false, now() FROM school
     ON CONFLICT (school_id) DO UPDATE SET enabled = true, grades = '{}', networks = '{}', hours_from = NULL, hours_to = NULL`,
  );
  await db.pool.query("DELETE FROM login_card");
  const cards = pupils.map((pupil) => ({
    id: crypto.randomUUID(),
    person_id: pupil.personId,
    school_id: pupil.schoolId,
    token_hash: `\\x${hash("sha256", pupil.cardToken, "hex")}`,
  }));
  await db.pool.query(
    `INSERT INTO login_card (id, person_id, school_id, token_hash, second_step, wrong_answers, created_at)
     SELECT id, person_id, school_id, token_hash, 'NONE', 0, now()
     FROM json_to_recordset($1::json) AS card (id uuid, person_id uuid, school_id uuid, token_hash bytea)`,
    [JSON.stringify(cards)],
  );
  await db.pool.query("VACUUM ANALYZE login_card, card_settings");
  return pupils;
}

/** Gives each of the pupils a passkey for the service at the address; their schools let them use it. */
export async function makePasskeys(db: PrismaDb, pupils: readonly Pupil[], url: string): Promise<Authenticator[]> {
  const userHandleOf = await makeUserHandles(db);
  const site = { origin: new URL(url).origin, rpId: new URL(url).hostname };
  const keys = pupils.map(({ personId }) => makeAuthenticator(site, userHandleOf(personId)));
  await db.pool.query(
    `INSERT INTO school_sign_in (school_id, user_name_rule, password_kind, must_change_password, passkeys_from_grade)
     SELECT id, 'RANDOM', 'WORDS', false, 1 FROM school
     ON CONFLICT (school_id) DO UPDATE SET passkeys = true, passkeys_from_grade = 1`,
  );
  await db.prisma.secondFactor.deleteMany({ where: { kind: "PASSKEY" } });
  await db.prisma.secondFactor.createMany({
    data: pupils.map(({ personId }, n) => ({
      ...keys[n]!.stored,
      id: crypto.randomUUID(),
      personId,
      kind: "PASSKEY",
      label: "Passkey",
      counter: 0,
      transports: ["internal"],
      isAsked: false,
      createdAt: new Date(),
    })),
  });
  await db.pool.query("VACUUM ANALYZE second_factor, school_sign_in");
  return keys;
}
