// oidc-provider with an adapter for PostgreSQL. As in the examples of its repository, a code is looked up first and
// marked as used in a second statement, whether or not somebody else marked it meanwhile.
import type { Adapter, AdapterPayload } from "oidc-provider";
import pg from "pg";
import { serveOidcProvider } from "../subjects/oidc-provider.ts";

const pool = new pg.Pool({ connectionString: process.env["DATABASE_URL"], max: 16 });

const makeTable = `
  CREATE TABLE kept (
    kind text, id text, payload jsonb NOT NULL, grant_id text, uid text, user_code text, expires_at timestamptz,
    consumed_at timestamptz, PRIMARY KEY (kind, id));
  CREATE INDEX ON kept (grant_id);
  CREATE INDEX ON kept (uid);
  CREATE INDEX ON kept (user_code)`;

const upsert = {
  name: "upsert",
  text: `
    INSERT INTO kept (kind, id, payload, grant_id, uid, user_code, expires_at)
    VALUES ($1, $2, $3, $4, $5, $6, now() + $7 * interval '1 second')
    ON CONFLICT (kind, id) DO UPDATE SET payload = excluded.payload, grant_id = excluded.grant_id, uid = excluded.uid,
      user_code = excluded.user_code, expires_at = excluded.expires_at`,
};

const selectBy = (column: "id" | "uid" | "user_code") => ({
  name: `select by ${column}`,
  text: `
    SELECT payload || CASE WHEN consumed_at IS NULL THEN '{}'
      ELSE jsonb_build_object('consumed', extract(epoch FROM consumed_at)::int) END AS payload
    FROM kept WHERE kind = $1 AND ${column} = $2 AND expires_at > now()`,
});
const [byId, byUid, byUserCode] = [selectBy("id"), selectBy("uid"), selectBy("user_code")];

function makeAdapter(kind: string): Adapter {
  const find = async (query: typeof byId, key: string): Promise<AdapterPayload | undefined> =>
    (await pool.query<{ payload: AdapterPayload }>({ ...query, values: [kind, key] })).rows[0]?.payload;
  const change = async (name: string, text: string, values: string[]) =>
    void (await pool.query({ name, text, values }));

  return {
    async upsert(id, payload, expiresIn) {
      const { grantId, uid, userCode } = payload;
      await pool.query({
        ...upsert,
        values: [kind, id, JSON.stringify(payload), grantId, uid, userCode, expiresIn ?? 0],
      });
    },
    find: (id) => find(byId, id),
    findByUid: (uid) => find(byUid, uid),
    findByUserCode: (userCode) => find(byUserCode, userCode),
    consume: (id) => change("consume", "UPDATE kept SET consumed_at = now() WHERE kind = $1 AND id = $2", [kind, id]),
    destroy: (id) => change("destroy", "DELETE FROM kept WHERE kind = $1 AND id = $2", [kind, id]),
    revokeByGrantId: (grantId) => change("revoke", "DELETE FROM kept WHERE grant_id = $1", [grantId]),
  };
}

await pool.query(makeTable);
await serveOidcProvider(makeAdapter);
