import type { PersonId, SchoolId } from "../../directory/index.ts";
import { recordAudit, type Origin } from "../../events/index.ts";
import { hmac } from "../../platform/crypto/seal.ts";
import {
  withPrismaTransaction,
  type PrismaDb,
  type RecordStore,
  type Transaction,
} from "../../platform/database/db.ts";
import {
  asynchronous,
  fields,
  makeFind,
  sql,
  table,
  update,
  type Parameters,
  type Sql,
} from "../../platform/database/sql.ts";
import { recordAtHome } from "../record-at-home.ts";
import type { CardSettings } from "./settings.ts";

/** The pictures with their emoji; the pages name them in both languages. */
export const codePictures = {
  dog: "🐶",
  cat: "🐱",
  mouse: "🐭",
  rabbit: "🐰",
  lion: "🦁",
  frog: "🐸",
  elephant: "🐘",
  penguin: "🐧",
  butterfly: "🦋",
  snail: "🐌",
  apple: "🍎",
  banana: "🍌",
  strawberry: "🍓",
  carrot: "🥕",
  cake: "🍰",
  ball: "⚽",
  car: "🚗",
  train: "🚂",
  rocket: "🚀",
  bicycle: "🚲",
  key: "🔑",
  umbrella: "☂️",
  balloon: "🎈",
  drum: "🥁",
} as const;

export type CodePicture = keyof typeof codePictures;
export const isCodePicture = (name: string): name is CodePicture => Object.hasOwn(codePictures, name);

export const codeLength = 3;

/** Pictures may repeat, but three equal ones are guessed first. */
export const isPictureCode = (pictures: readonly CodePicture[]): boolean =>
  pictures.length === codeLength && new Set(pictures).size > 1;

/** Wrong tries in a row that lock the pictures: of five guesses, one in 2,760 is right. */
const mostWrongTries = 5;

const everyGrade = 13;

/** Whether the pupils of a grade choose pictures; pupils without a grade only if all do. */
export const asksPictureCode = ({ pictureCodeUpToGrade: most }: CardSettings, grade: number | null): boolean =>
  most !== null && (grade ?? everyGrade) <= most;

/** "LOCKED" after too many wrong tries. */
export type PictureCodeState = "NONE" | "CHOSEN" | "LOCKED";

const code = table("pictureCode", "code");

export const pictureCodeOf = (personId: Sql): Sql => sql`coalesce((
  SELECT CASE WHEN ${code.wrongTries} < ${mostWrongTries} THEN 'CHOSEN' ELSE 'LOCKED' END
  FROM ${code} WHERE ${code.personId} = ${personId}), 'NONE')`;

/** `schoolId` is the home school of a pupil who has pictures. */
type PictureCode = { state: PictureCodeState; schoolId: SchoolId | null };

export async function findPictureCode({ prisma }: RecordStore, personId: PersonId): Promise<PictureCode> {
  const code = await prisma.pictureCode.findUnique({ where: { personId } });
  if (code === null) return { state: "NONE", schoolId: null };
  return { state: code.wrongTries < mostWrongTries ? "CHOSEN" : "LOCKED", schoolId: code.schoolId as SchoolId };
}

const hashPictures = (key: Buffer, personId: PersonId, pictures: readonly CodePicture[]): Buffer =>
  hmac(key)
    .update(JSON.stringify(["pictures", personId, ...pictures]))
    .digest();

type Tried = { personId: PersonId; pictures: readonly CodePicture[]; key: Buffer };
export type TryParameters = { personId: PersonId; hash: Buffer };
export type CountedTry = { wrongTries: number; schoolId: SchoolId };

/** Counts and compares in one statement, so that parallel tries are counted too; no wrong tries if it is right. */
export const countTry = ({ personId, hash }: Parameters<TryParameters>): Sql => sql`
  ${update("pictureCode", "code", {
    wrongTries: sql`CASE WHEN ${code.hash} = ${hash} THEN 0 ELSE ${code.wrongTries} + 1 END`,
  })}
  WHERE ${code.personId} = ${personId} AND ${code.wrongTries} < ${mostWrongTries}
  RETURNING ${fields<CountedTry>({ wrongTries: code.wrongTries, schoolId: code.schoolId })}`;

/** SQL statement: reads the step `tried`, which is `countTry`. Only a wrong try waits for the disk. */
export const readTry = sql`SELECT * FROM tried WHERE CASE WHEN "wrongTries" = 0 THEN ${asynchronous} ELSE true END`;

const countAlone = makeFind<CountedTry, TryParameters>("sign-in-pictures")`
  WITH tried AS (${countTry}) ${readTry}`;

/** "ended" also without pictures. `count` runs `countTry`, perhaps with more in the same statement. */
export async function tryPictures(
  db: PrismaDb,
  { personId, pictures, key }: Tried,
  origin: Origin,
  count: (params: TryParameters) => Promise<CountedTry[]> = (params) => countAlone(db.pool, params),
): Promise<"right" | "wrong" | "ended"> {
  const [row] = await count({ personId, hash: hashPictures(key, personId, pictures) });
  if (row === undefined) return "ended";
  if (row.wrongTries === 0) return "right";
  if (row.wrongTries < mostWrongTries) return "wrong";
  await recordAudit(db, { ...origin, action: "picture_code_locked", personId, schoolId: row.schoolId });
  return "ended";
}

/** Replaces the pictures of a person, and unlocks them. */
export async function choosePictures(
  db: PrismaDb,
  { personId, schoolId, pictures, key }: Tried & { schoolId: SchoolId },
  origin: Origin,
): Promise<void> {
  const hash = new Uint8Array(hashPictures(key, personId, pictures));
  const row = { schoolId, hash, wrongTries: 0, chosenAt: origin.at };
  await withPrismaTransaction(db, async (tx) => {
    await tx.prisma.pictureCode.upsert({ where: { personId }, create: { personId, ...row }, update: row });
    await recordAudit(tx, { ...origin, action: "picture_code_chosen", personId, schoolId });
  });
}

/** The person chooses anew with their next card. */
export async function revokePictureCodeIn(tx: Transaction, personId: PersonId, origin: Origin): Promise<void> {
  const { count } = await tx.prisma.pictureCode.deleteMany({ where: { personId } });
  if (count > 0) await recordAtHome(tx, { ...origin, action: "picture_code_revoked", personId });
}
