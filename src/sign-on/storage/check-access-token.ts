import DataLoader from "dataloader";
import type { AccessToken, CheckAccessToken, ClientId, ScopeName, TokenCheck } from "../../access/index.ts";
import { personMaySignIn, scopeFromWire } from "../../access/index.ts";
import type { PersonId } from "../../directory/index.ts";
import type { Clock } from "../../platform/clock.ts";
import { arrayParameter, type Db } from "../../platform/db.ts";
import { render, sql, table } from "../../platform/sql.ts";
import { hashId, isCurrent } from "./artifact.ts";

type TokenRow = {
  idHash: Buffer;
  clientId: ClientId;
  personId: PersonId | null;
  scope: string | null;
  granted: ScopeName[];
  expiresAt: Date;
};

const maySignIn = render(personMaySignIn(sql`token.client_id`, table("person"))).text;

// A token dies with its app; one of a person holds as long as they may sign in to the app. A scope that the app lost is
// lost for its tokens too.
const selectTokens = `
  SELECT token.id_hash AS "idHash", token.client_id AS "clientId", token.person_id AS "personId",
    token.payload->>'scope' AS scope, app.scopes AS granted, token.expires_at AS "expiresAt"
  FROM oidc_artifact token
  JOIN app ON app.client_id = token.client_id
  LEFT JOIN person ON person.id = token.person_id
  WHERE token.kind IN ('AccessToken', 'ClientCredentials') AND token.id_hash = ANY (${arrayParameter("$1", "bytea")}::bytea[])
    AND ${isCurrent("token")}
    AND (token.person_id IS NULL OR person.blocked_at IS NULL AND ${maySignIn})`;

const shape = /^[A-Za-z0-9_-]{43}$/;

/** Looks a presented token up every time; those that came in while the last input was read share one query. */
export function makeCheckAccessToken({
  db,
  clock,
  platform,
}: {
  db: Db;
  clock: Clock;
  platform: string;
}): CheckAccessToken {
  const loader = new DataLoader<string, TokenRow | undefined>((tokens) => findTokens(db, tokens), {
    cache: false,
    maxBatchSize: 100,
    batchScheduleFn: setImmediate,
  });
  return async (bearer) => {
    const row = shape.test(bearer) ? await loader.load(bearer) : undefined;
    return judge(row, clock(), platform);
  };
}

async function findTokens(db: Db, tokens: readonly string[]): Promise<(TokenRow | undefined)[]> {
  const hashes = tokens.map(hashId);
  const { rows } = await db.pool.query<TokenRow>({ name: "sign-on.findTokens", text: selectTokens, values: [hashes] });
  return hashes.map((idHash) => rows.find((row) => row.idHash.equals(idHash)));
}

function judge(row: TokenRow | undefined, now: Date, platform: string): TokenCheck {
  if (!row) return { kind: "unknown" };
  if (row.expiresAt <= now) return { kind: "expired" };
  const named = (row.scope ?? "").split(" ").map((scope) => scopeFromWire(platform, scope));
  const scopes = new Set(named.filter((scope) => scope !== null && row.granted.includes(scope)) as ScopeName[]);
  const token: AccessToken = { clientId: row.clientId, personId: row.personId, scopes };
  return { kind: "valid", token };
}
