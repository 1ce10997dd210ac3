import { randomInt } from "node:crypto";
import type { GroupId, PersonId, SchoolId } from "../../directory/index.ts";
import { recordAudit, recordAuditFrom, type Origin } from "../../events/index.ts";
import { hmac } from "../../platform/crypto/seal.ts";
import { makeUuid } from "../../platform/crypto/ids.ts";
import type { Db, PrismaDb, RecordStore, Transaction } from "../../platform/database/db.ts";
import {
  fields,
  join,
  makeFind,
  makeFindOne,
  pick,
  sql,
  table,
  type Sql,
  type Value,
} from "../../platform/database/sql.ts";
import {
  giveBackSteps,
  giveTokensBack,
  secondsUntil,
  takeTokens,
  toBucketParameters,
  type BucketParameters,
} from "../../platform/database/token-bucket.ts";
import { bucketsOfAddress, makeKeyMaker } from "../login/known-devices.ts";
import { findCardRefusal } from "./allowed.ts";
import { countTry, pictureCodeOf, readTry, tryPictures } from "./picture-code.ts";
import type { CodePicture, CountedTry, TryParameters } from "./picture-code.ts";
import { cardSettingsOf, settingsFrom, type CardSettingsRow } from "./settings.ts";
import { checkCardOf, isOfStaff, type Slowed, type UsableCard } from "./use-card.ts";

export const classListPath = "/class";

/** Without characters that look alike on a board: nine of them are 42 bits. */
const alphabet = "23456789ACDEFGHJKMNPQRTVWXY";
const codeCharacters = 9;
export type MakeClassCode = () => { code: string; codeHash: Buffer };

const hashCode = (key: Buffer, code: string): Buffer =>
  hmac(key)
    .update(JSON.stringify(["class list", code]))
    .digest();

export const makeClassCodeMaker =
  (key: Buffer): MakeClassCode =>
  () => {
    const code = Array.from({ length: codeCharacters }, () => alphabet[randomInt(alphabet.length)]).join("");
    return { code: code.match(/.{3}/g)!.join("-"), codeHash: hashCode(key, code) };
  };

type ClassOf = { groupId: GroupId; schoolId: SchoolId };

/** Opens the list of a class; the one of the lesson before ends. */
export async function createClassListIn(
  tx: Transaction,
  { groupId, schoolId, codeHash, endsAt }: ClassOf & { codeHash: Buffer; endsAt: Date },
  origin: Origin,
): Promise<void> {
  const row = { id: makeUuid(origin.at), codeHash: new Uint8Array(codeHash), endsAt };
  await tx.prisma.classList.upsert({ where: { groupId }, create: { groupId, ...row }, update: row });
  await recordAudit(tx, { ...origin, action: "class_list_created", schoolId, detail: { groupIds: [groupId] } });
}

export async function findClassListEnd({ prisma }: RecordStore, groupId: GroupId, now: Date): Promise<Date | null> {
  return (await prisma.classList.findUnique({ where: { groupId, endsAt: { gt: now } } }))?.endsAt ?? null;
}

export async function endClassListIn(tx: Transaction, { groupId, schoolId }: ClassOf, origin: Origin): Promise<void> {
  const { count } = await tx.prisma.classList.deleteMany({ where: { groupId, endsAt: { gt: origin.at } } });
  if (count === 0) return;
  await recordAudit(tx, { ...origin, action: "class_list_ended", schoolId, detail: { groupIds: [groupId] } });
}

/** `isReady`: they have a card, and pictures that are not locked. Whoever does not is not told why. */
export type ListedPupil = { personId: PersonId; first: string; last: string; isReady: boolean };

export type OpenClassList = ClassOf & { id: string; className: string; endsAt: Date; pupils: ListedPupil[] };
type OpenRow = OpenClassList & { settings: CardSettingsRow | null };

const list = table("classList", "list");
const group = table("group", "class");
const member = table("membership", "member");
const pupil = table("person", "pupil");
const card = table("loginCard", "card");
const credential = table("credential");

/** No list of more is opened. */
export const mostListed = 200;

/** SQL condition: the school's card and pictures of `pupil` sign in from a list; both are at their home school. */
const isReadyAt = (
  schoolId: Value,
  now: Value,
): Sql => sql`${pupil.homeSchoolId} = ${schoolId} AND ${pupil.blockedAt} IS NULL
  AND ${pictureCodeOf(pupil.id)} = 'CHOSEN' AND NOT ${isOfStaff(pupil.id, now)}
  AND EXISTS (SELECT FROM ${credential} WHERE ${credential.personId} = ${pupil.id})
  AND EXISTS (SELECT FROM ${card}
    WHERE ${card.personId} = ${pupil.id} AND ${card.schoolId} = ${schoolId} AND ${card.revokedAt} IS NULL)`;

const selectPupils = ({ groupId, schoolId, now }: { groupId: Value; schoolId: Value; now: Value }): Sql => sql`
  SELECT ${fields<ListedPupil>({
    personId: pupil.id,
    first: pupil.firstCall,
    last: pupil.last,
    isReady: isReadyAt(schoolId, now),
  })}
  FROM ${member} JOIN ${pupil} ON ${pupil.id} = ${member.personId}
  WHERE ${member.groupId} = ${groupId} AND ${member.role} = 'STUDENT' AND ${pupil.status} = 'ACTIVE'
    AND ${pupil.firstCall} IS NOT NULL AND ${pupil.last} IS NOT NULL
  ORDER BY ${pupil.sortKey}, ${pupil.id} LIMIT ${mostListed + 1}`;

const countPupils = makeFindOne<{ count: number }, ClassOf & { now: Date }>("class-pupils-count")`
  SELECT count(*)::int AS count FROM (${selectPupils}) AS listed`;

export const isClassTooLarge = async (db: Db, classOf: ClassOf, now: Date): Promise<boolean> =>
  (await countPupils(db.pool, { ...classOf, now })).count > mostListed;

type Wanted = { id: string | null; codeHash: Buffer | null; now: Date };

const findOpen = makeFind<OpenRow, Wanted>(
  ({ id, codeHash, now }) => sql`
    SELECT ${fields<OpenRow>({
      ...pick(list, "id", "groupId", "endsAt"),
      schoolId: group.schoolId,
      className: group.name,
      settings: cardSettingsOf(group.schoolId),
      pupils: sql`(SELECT coalesce(json_agg(listed), '[]')
        FROM (${selectPupils({ groupId: list.groupId, schoolId: group.schoolId, now })}) AS listed)`,
    })}
    FROM ${list} JOIN ${group} ON ${group.id} = ${list.groupId} AND ${group.status} = 'ACTIVE'
    WHERE (${list.id} = ${id}::uuid OR ${list.codeHash} = ${codeHash}::bytea) AND ${list.endsAt} > ${now}`,
  "sign-in-class-list",
);

/** A class of a pupil whose home school uses class lists; `until` is null while its list is closed. */
export type ListOfPupil = { groupId: GroupId; className: string; until: string | null } & Pick<ListedPupil, "isReady">;

const cards = table("cardSettings", "cards");

export const classListsOf = (personId: Sql, now: Value): Sql => sql`(
  SELECT coalesce(json_agg(one ORDER BY one."className"), '[]') FROM (
    SELECT ${fields<ListOfPupil>({
      groupId: group.id,
      className: group.name,
      until: list.endsAt,
      isReady: isReadyAt(member.schoolId, now),
    })}
    FROM ${member} JOIN ${pupil} ON ${pupil.id} = ${member.personId} AND ${pupil.homeSchoolId} = ${member.schoolId}
      JOIN ${cards} ON ${cards.schoolId} = ${member.schoolId} AND ${cards.enabled} AND ${cards.classLists}
      JOIN ${group} ON ${group.id} = ${member.groupId} AND ${group.type} = 'KLASSE' AND ${group.status} = 'ACTIVE'
      LEFT JOIN ${list} ON ${list.groupId} = ${group.id} AND ${list.endsAt} > ${now}
    WHERE ${member.personId} = ${personId} AND ${member.role} = 'STUDENT') AS one)`;

type Device = { at: Date; address: string };

/** Null also where the school has since switched lists off, or they do not work at this time or in this network. */
async function findList(db: Db, wanted: Omit<Wanted, "now">, { at, address }: Device): Promise<OpenClassList | null> {
  const [row] = await findOpen(db.pool, { ...wanted, now: at });
  if (row === undefined) return null;
  const { settings: settingsRow, ...openList } = row;
  const settings = settingsFrom(settingsRow);
  const refusal = findCardRefusal({ ...settings, grades: null }, { grade: null, at, address });
  return settings.classLists && refusal === null ? openList : null;
}

export const findOpenClassList = (db: Db, id: string, device: Device): Promise<OpenClassList | null> =>
  findList(db, { id, codeHash: null }, device);

/** Wrong codes from one address; right ones do not count. */
const codeBuckets = {
  address: { capacity: 100, refillSeconds: 600 },
  site: { capacity: 500, refillSeconds: 600 },
};

/** A code that never was, of another lesson, or of a list that was closed is "wrong". */
export async function enterClassCode(
  db: Db,
  { typed, keys, ...device }: Device & { typed: string; keys: { codes: Buffer; limits: Buffer } },
): Promise<{ kind: "open"; list: OpenClassList } | { kind: "wrong" } | Slowed> {
  const makeKey = makeKeyMaker(keys.limits);
  const buckets = bucketsOfAddress(device.address, codeBuckets, (kind, part) => makeKey(`class code ${kind}`, part));
  const wait = await takeTokens(db.pool, buckets, device.at);
  if (wait !== null) return { kind: "slowed", retryAfterSeconds: secondsUntil(wait, device.at) };
  const code = typed
    .slice(0, 64)
    .toUpperCase()
    .replace(/[^0-9A-Z]/g, "");
  const list = await findList(db, { id: null, codeHash: hashCode(keys.codes, code) }, device);
  if (list === null) return { kind: "wrong" };
  await giveTokensBack(db.pool, buckets);
  return { kind: "open", list: list };
}

/** Wrong pictures of all pupils in one lesson. */
const triesInLesson = { capacity: 30, refillSeconds: 1800 };

type UseParameters = BucketParameters &
  TryParameters &
  Pick<OpenClassList, "groupId"> &
  Pick<UsableCard, "schoolId" | "cardId"> & { auditId: string; at: Date; requestId: string | undefined };

// Right pictures give back what their try took, so that a class in which nobody guesses is never slowed.
const countUse = makeFind<CountedTry, UseParameters>((params) => {
  const { steps } = giveBackSteps(params, 1, sql`EXISTS (SELECT FROM used)`);
  return sql`
    WITH tried AS (${countTry(params)}),
    used AS (
      SELECT ${params.auditId}::uuid AS id, ${params.at}::timestamptz AS at, NULL::text AS client_id,
        ${params.personId}::uuid AS person_id, ${params.schoolId}::uuid AS school_id, ${params.requestId}::text AS request_id,
        json_build_object('cardId', ${params.cardId}::uuid, 'groupIds', ARRAY[${params.groupId}::uuid]) AS detail
      FROM tried WHERE tried."wrongTries" = 0),
    ${join([...steps, sql`recorded AS (${recordAuditFrom(sql`used`, "class_list_used", ["schoolId", "detail"])})`])}
    ${readTry}`;
}, "sign-in-class-list-use");

type Tap = Device & {
  list: OpenClassList;
  personId: PersonId;
  pictures: readonly CodePicture[];
  keys: { pictures: Buffer; limits: Buffer };
  requestId: string | undefined;
};

/** Counts a try as wrong until the pictures are right. "ended": they are locked now. */
export async function signInFromList(
  db: PrismaDb,
  { list: { id, groupId, schoolId }, personId, pictures, keys, requestId, ...device }: Tap,
): Promise<{ kind: "ok"; card: UsableCard } | { kind: "refused" | "wrong" | "ended" } | Slowed> {
  const buckets = [{ key: makeKeyMaker(keys.limits)("class list", id), ...triesInLesson }];
  const check = await checkCardOf(db, { personId, schoolId, buckets, ...device });
  if (check.kind !== "usable") return check;
  const { card } = check;
  const { at } = device;
  const use = { ...toBucketParameters(buckets), groupId, schoolId, cardId: card.cardId, auditId: makeUuid(at) };
  const answer = await tryPictures(db, { personId, pictures, key: keys.pictures }, { at, requestId }, (params) =>
    countUse(db.pool, { ...use, ...params, at, requestId }),
  );
  return answer === "right" ? { kind: "ok", card } : { kind: answer };
}
