import { isCurrent } from "../../../accounts/index.ts";
import DataLoader from "dataloader";
import type {
  AccessToken,
  CheckAccessToken,
  ClientId,
  IdKind,
  NamesRead,
  ScopeName,
  TokenCheck,
} from "../../../access/index.ts";
import { idKindOf, namesReadBy, personMaySignIn, personWorksAsStaff, scopeFromWire } from "../../../access/index.ts";
import type { PersonId } from "../../../directory/index.ts";
import { holdsRoleBeyondHome } from "../../../staff/index.ts";
import type { Clock } from "../../../platform/clock.ts";
import type { Db } from "../../../platform/database/db.ts";
import { arrayOf, fields, makeFind, sql, table } from "../../../platform/database/sql.ts";
import { hashId } from "./artifact.ts";

type TokenRow = {
  idHash: Buffer;
  clientId: ClientId;
  personId: PersonId | null;
  scope: string | null;
  granted: ScopeName[];
  hasSecondFactor: boolean;
  namesRead: NamesRead;
  ids: IdKind;
  expiresAt: Date;
  isAllowed: boolean;
};

const token = table("oidcArtifact", "token");
const app = table("app");
const person = table("person");

// A token is valid while its app exists and is not suspended, and its person may sign in to the app; it loses the
// scopes that the app loses. One by the login of a school opens no role beyond it that the person got since.
const findByHash = makeFind<TokenRow, { idHashes: Buffer[]; now: Date }>(
  ({ idHashes, now }) => sql`
    SELECT ${fields<TokenRow>({
      idHash: token.idHash,
      clientId: token.clientId,
      personId: token.personId,
      scope: sql`${token.payload}->>'scope'`,
      granted: app.scopes,
      // Present if the session was made with one: provider/grant.ts.
      hasSecondFactor: sql`${token.payload} #> '{claims,id_token,amr}' IS NOT NULL`,
      namesRead: namesReadBy(app),
      ids: idKindOf(app),
      expiresAt: token.expiresAt,
      isAllowed: sql`coalesce(${isCurrent(token)} AND ${app.suspendedAt} IS NULL AND (${token.personId} IS NULL
        OR ${person.blockedAt} IS NULL
          AND (${token.upstreamSessionId} IS NULL OR NOT ${holdsRoleBeyondHome(person, now)})
          AND (${personMaySignIn(token.clientId, person)}
          OR ${personWorksAsStaff(token.clientId, person, now)})), false)`,
    })}
    FROM ${token} JOIN ${app} ON ${app.clientId} = ${token.clientId}
    LEFT JOIN ${person} ON ${person.id} = ${token.personId}
    WHERE ${token.kind} IN ('AccessToken', 'ClientCredentials')
      AND ${token.idHash} = ANY (${arrayOf(idHashes, "bytea")}::bytea[])`,
  "sign-on.findTokens",
);

const shape = /^[A-Za-z0-9_-]{43}$/;

/** Tokens that arrive together share one query. */
export function makeCheckAccessToken({ db, clock }: { db: Db; clock: Clock }): CheckAccessToken {
  const loader = new DataLoader<string, TokenRow | undefined>((tokens) => findTokens(db, tokens, clock()), {
    cache: false,
    maxBatchSize: 100,
    batchScheduleFn: setImmediate,
  });
  return async (bearer) => classify(shape.test(bearer) ? await loader.load(bearer) : undefined, clock());
}

async function findTokens(db: Db, tokens: readonly string[], now: Date): Promise<(TokenRow | undefined)[]> {
  const idHashes = tokens.map(hashId);
  const rows = await findByHash(db.pool, { idHashes, now });
  return idHashes.map((idHash) => rows.find((row) => row.idHash.equals(idHash)));
}

function classify(row: TokenRow | undefined, now: Date): TokenCheck {
  if (!row) return { kind: "unknown" };
  const { clientId, personId, hasSecondFactor, namesRead, ids } = row;
  if (!row.isAllowed) return { kind: "revoked", clientId };
  if (row.expiresAt <= now) return { kind: "expired", clientId };
  const named = (row.scope ?? "").split(" ").map((scope) => scopeFromWire(scope));
  const scopes = new Set(named.filter((scope) => scope !== null && row.granted.includes(scope)) as ScopeName[]);
  const token: AccessToken = { clientId, personId, scopes, hasSecondFactor, namesRead, ids };
  return { kind: "valid", token };
}
