import { makeFindOne, sql, type Queryable, type Sql, type Value } from "../platform/database/sql.ts";

/** The database deletes what is encrypted by these, with the people whom it names. */
export const mentionsOf = (texts: Value): Sql => sql`mentions_of(${texts}::text[])`;

/** All texts and numbers in a value, wherever they are in it. */
export function textsIn(value: unknown): string[] {
  if (typeof value === "string") return [value.replaceAll("\0", " ").toWellFormed()];
  if (typeof value === "number") return [String(value)];
  return typeof value === "object" && value !== null ? Object.values(value).flatMap(textsIn) : [];
}

const findMentionsOf = makeFindOne<{ mentions: number[] }, { texts: string[] }>("upstream.findMentions")`
  SELECT ${({ texts }) => mentionsOf(texts)} AS mentions`;

export const findMentions = async (db: Queryable, value: unknown): Promise<number[]> =>
  (await findMentionsOf(db, { texts: textsIn(value) })).mentions;
