import { withTransaction, type Db } from "../../src/platform/database/db.ts";

/** Sign-ons of one app-and-person pair each, numbered through the run. Units: `refreshPercent` of them get one. */
export type Wave = { from: number; count: number; at: Date; newSessionPercent: number; refreshPercent: number };

const lifetimes = { interaction: "1 hour", session: "8 hours", code: "1 minute", access: "1 hour", refresh: "30 days" };

/** The pairs that sign in, numbered, so that each wave finds its own by index. */
export async function numberPairs({ pool }: Db): Promise<number> {
  await pool.query(`CREATE UNLOGGED TABLE bench_pair AS
    SELECT row_number() OVER (ORDER BY md5(client_id || person_id)) - 1 AS n, client_id, person_id FROM sign_in`);
  await pool.query("CREATE UNIQUE INDEX ON bench_pair (n)");
  await pool.query("ANALYZE bench_pair");
  const { rows } = await pool.query<{ pairs: number }>("SELECT count(*)::int AS pairs FROM bench_pair");
  return rows[0]!.pairs;
}

const hashOf = (kind: string) => `sha256(convert_to('${kind} ' || n, 'UTF8'))`;

const insertArtifact = (kind: string, { life, only = "true" }: { life: string; only?: string }) => `
  INSERT INTO oidc_artifact (kind, id_hash, payload, client_id, person_id, generation, grant_id, session_uid, expires_at)
  SELECT '${kind}', ${hashOf(kind)}, jsonb_build_object('iat', n, 'exp', n + 3600, 'accountId', person_id,
      'claims', '{}'::jsonb, 'grantId', md5('grant ' || n), 'gty', 'authorization_code', 'sessionUid', md5('session ' || n),
      'scope', 'openid profile role', 'kind', '${kind}', 'clientId', client_id, 'jti', md5(n::text), 'aud', client_id),
    client_id, person_id, 0, ${kind === "Session" || kind === "Interaction" ? "NULL" : "md5('grant ' || n)"},
    ${kind === "Interaction" ? "NULL" : "md5('session ' || n)"}, $1::timestamptz + interval '${life}'
  FROM signing_on WHERE ${only}`;

const isNew = "n % 100 < $2";

/**
 * Writes what a sign-on writes: one that is new begins with an interaction, which ends with a session, a limit of its
 * address and a known browser; each has a code that is used up for an access token, the time of the last sign-in and an
 * audit line.
 */
const steps: { text: string; uses: readonly ("at" | "new" | "refresh")[] }[] = [
  { text: insertArtifact("Interaction", { life: lifetimes.interaction, only: isNew }), uses: ["at", "new"] },
  {
    text: `INSERT INTO rate_limit (key, full_at) SELECT ${hashOf("address")}, $1::timestamptz + interval '20 minutes'
      FROM signing_on WHERE ${isNew}`,
    uses: ["at", "new"],
  },
  {
    text: `DELETE FROM oidc_artifact a USING signing_on WHERE a.kind = 'Interaction' AND a.id_hash = ${hashOf("Interaction")}`,
    uses: [],
  },
  { text: insertArtifact("Session", { life: lifetimes.session, only: isNew }), uses: ["at", "new"] },
  {
    text: `INSERT INTO sign_in_place (person_id, place, last_used_at)
      SELECT DISTINCT person_id, sha256(convert_to('browser ' || person_id || n % 3, 'UTF8')), $1::timestamptz FROM signing_on WHERE ${isNew}
      ON CONFLICT (person_id, place) DO UPDATE SET last_used_at = excluded.last_used_at`,
    uses: ["at", "new"],
  },
  { text: insertArtifact("AuthorizationCode", { life: lifetimes.code }), uses: ["at"] },
  {
    text: `UPDATE oidc_artifact a SET consumed_at = $1 FROM signing_on
      WHERE a.kind = 'AuthorizationCode' AND a.id_hash = ${hashOf("AuthorizationCode")}`,
    uses: ["at"],
  },
  { text: insertArtifact("AccessToken", { life: lifetimes.access }), uses: ["at"] },
  {
    text: insertArtifact("RefreshToken", { life: lifetimes.refresh, only: "n % 100 >= 100 - $2" }),
    uses: ["at", "refresh"],
  },
  {
    text: `UPDATE sign_in s SET last_sign_in_at = $1 FROM signing_on p
      WHERE s.client_id = p.client_id AND s.person_id = p.person_id`,
    uses: ["at"],
  },
  {
    text: `INSERT INTO audit (id, at, action, client_id, person_id, request_id)
      SELECT gen_random_uuid(), $1, 'signed_in', client_id, person_id, gen_random_uuid()::text FROM signing_on`,
    uses: ["at"],
  },
];

/** Writes sign-ons of one moment in one transaction, whose statements each hold them all. */
export async function writeWave(db: Pick<Db, "pool">, wave: Wave, pairs: number): Promise<void> {
  const given = { at: wave.at, new: wave.newSessionPercent, refresh: wave.refreshPercent };
  await withTransaction(db, async (tx) => {
    await tx.query("CREATE TEMPORARY TABLE signing_on (n bigint, client_id text, person_id uuid) ON COMMIT DROP");
    await tx.query(
      `INSERT INTO signing_on SELECT g, client_id, person_id FROM generate_series($1::bigint, $1::bigint + $2 - 1) g
       JOIN bench_pair p ON p.n = g % $3::bigint`,
      [wave.from, wave.count, pairs],
    );
    for (const { text, uses } of steps)
      await tx.query(
        text,
        uses.map((name) => given[name]),
      );
  });
}
