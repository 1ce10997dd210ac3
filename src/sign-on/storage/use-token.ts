import { type ClientId, recordSignInsFrom } from "../../access/index.ts";
import type { PersonId } from "../../directory/index.ts";
import { recordAuditFrom } from "../../events/index.ts";
import { arrayParameter, type Queryable } from "../../platform/db.ts";
import { makeUuid } from "../../platform/ids.ts";
import { type Artifact, artifactRow, insertArtifactsFrom, toRow } from "./artifact.ts";

/** A later sign-in of a person to an app, which a code brings about. */
export type SignIn = { clientId: ClientId; personId: PersonId; at: Date; requestId: string | undefined };

/** A code or refresh token, what is given for it, and what it brings about. */
export type TokenUse = {
  kind: string;
  idHash: Buffer;
  at: Date;
  /** The answer, sealed, where it may be given once more. */
  replay: Buffer | null;
  puts: readonly Artifact[];
  signIn: SignIn | null;
};

// Each use stands alone: what is written for it hangs on its own token being unused, and is of the generation of that token.
const useTokensText = `
  WITH asked AS (
    SELECT place::int, kind, id_hash, at, replay
    FROM unnest(${arrayParameter("$1", "text")}, ${arrayParameter("$2", "bytea")}, ${arrayParameter("$3", "timestamptz")}, ${arrayParameter("$4", "bytea")})
      WITH ORDINALITY AS asked (kind, id_hash, at, replay, place)),
  used AS (
    UPDATE oidc_artifact token SET consumed_at = asked.at, replay = asked.replay
    FROM asked WHERE token.kind = asked.kind AND token.id_hash = asked.id_hash AND token.consumed_at IS NULL
    RETURNING asked.place, token.generation),
  put AS (${insertArtifactsFrom(`jsonb_to_recordset($5::jsonb) AS put (place int, ${artifactRow}) JOIN used USING (place)`)}),
  signed_in AS (
    SELECT signed_in.* FROM jsonb_to_recordset($6::jsonb)
      AS signed_in (place int, id uuid, at timestamptz, client_id text, person_id uuid, request_id text) JOIN used USING (place)),
  sign_in_recorded AS (${recordSignInsFrom("signed_in")}),
  audit_recorded AS (${recordAuditFrom("signed_in", "signed_in")})
  SELECT place FROM used`;

/**
 * Uses tokens up and writes what is given for them, each of them wholly or not at all.
 *
 * Shape: false, in the place of the use, where somebody was faster. One code twice among the uses counts once.
 */
export async function useTokens(db: Queryable, uses: readonly TokenUse[]): Promise<boolean[]> {
  const { rows } = await db.query<{ place: number }>({
    name: "sign-on.useTokens",
    text: useTokensText,
    values: [
      uses.map(({ kind }) => kind),
      uses.map(({ idHash }) => idHash),
      uses.map(({ at }) => at),
      uses.map(({ replay }) => replay),
      JSON.stringify(uses.flatMap(({ puts }, index) => puts.map((put) => ({ place: index + 1, ...toRow(put) })))),
      JSON.stringify(uses.flatMap(({ signIn }, index) => (signIn ? [toSignInRow(signIn, index + 1)] : []))),
    ],
  });
  const used = new Set(rows.map(({ place }) => place));
  return uses.map((_use, index) => used.has(index + 1));
}

const toSignInRow = ({ clientId, personId, at, requestId }: SignIn, place: number): Record<string, unknown> => ({
  place,
  id: makeUuid(at),
  at,
  client_id: clientId,
  person_id: personId,
  request_id: requestId,
});
