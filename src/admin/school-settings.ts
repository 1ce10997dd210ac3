import type { SchoolId } from "../directory/index.ts";
import { recordDifference } from "../events/index.ts";
import { present } from "../platform/contract-types.ts";
import { withPrismaTransaction, type RecordStore, type Transaction } from "../platform/database/db.ts";
import {
  findSignInSettings,
  lockSchoolSettings,
  putSignInSettings as put,
  readCardSettings,
  writeCardSettings,
} from "../accounts/index.ts";
import { answerRecord, differenceOf, refuseStale, tagOf } from "./change.ts";
import type { AdminDeps, AdminHandler, AdminRequest, Schemas } from "./handler.ts";
import { refuseOtherSchool, refuseUnknownSchool, schoolUnknown } from "./reached.ts";

export type Read<Settings> = (db: RecordStore, schoolId: SchoolId) => Promise<Settings>;

const readCards: Read<Schemas["CardSettings"]> = async (db, schoolId) =>
  present<Schemas["CardSettings"]>(await readCardSettings(db, schoolId));

const readSignIn: Read<Schemas["SignInSettings"]> = async (db, schoolId) => {
  const found = await findSignInSettings(db, schoolId);
  if (found === null) throw schoolUnknown();
  return present<Schemas["SignInSettings"]>(found);
};

export const getCardSettings: AdminHandler<"getCardSettings"> = async ({ db }, { schoolId, reach }) => {
  await refuseUnknownSchool(db, reach, schoolId);
  return answerRecord(await readCards(db, schoolId));
};

export const getSignInSettings: AdminHandler<"getSignInSettings"> = async ({ db }, { schoolId, reach }) => {
  refuseOtherSchool(reach, schoolId);
  return answerRecord(await readSignIn(db, schoolId));
};

type Changing = "putCardSettings" | "putSignInSettings" | "putParentLetter";

export const changeSettings = <Settings extends object>(
  { db }: Pick<AdminDeps, "db">,
  { schoolId, reach, headers, origin }: Pick<AdminRequest<Changing>, "schoolId" | "reach" | "headers" | "origin">,
  { read, write }: { read: Read<Settings>; write: (tx: Transaction) => Promise<unknown> },
) =>
  withPrismaTransaction(db, async (tx) => {
    await refuseUnknownSchool(tx, reach, schoolId);
    await lockSchoolSettings(tx, schoolId);
    const before = await read(tx, schoolId);
    refuseStale(headers, before);
    await write(tx);
    const after = await read(tx, schoolId);
    await recordDifference(tx, origin, differenceOf(before, after));
    return { status: 204 as const, headers: { ETag: tagOf(after) } };
  });

export const putCardSettings: AdminHandler<"putCardSettings"> = (deps, request) => {
  const { schoolId, body, origin } = request;
  return changeSettings(deps, request, {
    read: readCards,
    write: (tx) => writeCardSettings(tx, schoolId, body, origin),
  });
};

export const putSignInSettings: AdminHandler<"putSignInSettings"> = (deps, request) => {
  const { schoolId, body, origin } = request;
  return changeSettings(deps, request, { read: readSignIn, write: (tx) => put(tx, { schoolId, ...body }, origin) });
};
