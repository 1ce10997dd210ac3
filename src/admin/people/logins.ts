import type { PersonId, SchoolId } from "../../directory/index.ts";
import { present } from "../handler.ts";
import type { RecordStore, Transaction } from "../../platform/database/db.ts";
import { AppError } from "../../platform/errors.ts";
import * as accounts from "../../accounts/index.ts";
import { makePasswords, type MadeLogin, type PasswordsFor } from "../../accounts/index.ts";
import { refuseHigherHolder, refuseLastOperatorLeaves, listHigherHolders } from "../../staff/index.ts";
import { changeRecord, commitDone, tagOf, type ChangeRequest } from "../change.ts";
import type { AdminCaller, AdminDeps, AdminHandler, AdminRequest, Schemas } from "../handler.ts";
import { passing, readPerson } from "./person-record.ts";
import { refuseOtherSchool, getReachedPerson, listGuests } from "../reached.ts";
import { readGroup } from "../groups/groups.ts";

type Login = NonNullable<Schemas["StoredLogin"]>;

export const loginUnknown = () => new AppError("not_found", "login_not_found", "The person has no login.");
const counts = ["sessions"] as const;

export async function readLogin(db: RecordStore, personId: PersonId, now: Date): Promise<Login | null> {
  const login = await accounts.findLogin(db, personId, now);
  return login && present("StoredLogin", { ...login, personId });
}

export const getLogin: AdminHandler<"getLogin"> = async ({ db }, { personId, reach, origin }) => {
  await getReachedPerson(db, reach, personId);
  const now = origin.at;
  const [login, own] = [await readLogin(db, personId, now), await accounts.findOwnPassword(db, personId, now)];
  if (login === null) throw loginUnknown();
  const usesPassword = own?.isUsed ?? (await accounts.findMayUsePassword(db.pool, { personId, now }));
  const { state: pictureCode } = await accounts.findPictureCode(db, personId);
  const mayChangePassword = own?.isAllowed ?? false;
  const body = present("Login", { ...login, usesPassword, mayChangePassword, pictureCode });
  return { status: 200, body, headers: { ETag: tagOf(login, counts) } };
};

type Request = Pick<AdminRequest<"signOutPerson">, "personId" | "reach" | "origin"> & { caller: AdminCaller };

/** Locks the login and the block of the person. */
async function lockReached(tx: Transaction, { personId, reach, origin, caller }: Request): Promise<void> {
  await accounts.lockPersonSignIn(tx, personId);
  await getReachedPerson(tx, reach, personId);
  await refuseHigherHolder(tx, { holder: { personId }, mine: caller.roles, now: origin.at });
}

/** A change in a transaction that locks the login and the block of the person. */
export const changeWithPerson = (
  deps: Pick<AdminDeps, "db">,
  request: Request & Pick<ChangeRequest, "keep">,
  change: (tx: Transaction, personId: PersonId, origin: Request["origin"]) => Promise<unknown>,
) =>
  commitDone(deps, request, async (tx) => {
    await lockReached(tx, request);
    await change(tx, request.personId, request.origin);
  });

/** Makes a password in the format of the home school, with its hash. */
export async function makeLogin(db: Pick<RecordStore, "prisma">, personId: string, hash = accounts.hashPassword) {
  const settings = await accounts.findSignInSettingsOf(db, personId as PersonId);
  const password = accounts.makePassword(settings?.passwordKind ?? "LETTERS");
  return { password, mustChange: settings?.mustChangePassword ?? false, passwordHash: await hash(password) };
}

/** Gives the person a new password; `username` is undefined for a person who keeps theirs. */
async function changeLogin(deps: AdminDeps, request: Request & ChangeRequest, username?: string) {
  const { personId, origin } = request;
  const { password, ...secret } = await makeLogin(deps.db, personId);
  return changeRecord(deps, request, {
    touch: (tx) => lockReached(tx, request),
    record: (tx) => readLogin(tx, personId, origin.at),
    work: async (tx, before) => {
      const name = username ?? before?.username;
      if (name === undefined) throw loginUnknown();
      await accounts.setLoginIn(tx, { personId, username: name, ...secret }, origin);
    },
    without: counts,
    answer({ after, headers }) {
      const body = present("LoginSecret", { personId, username: after!.username, password });
      return { status: 200 as const, body, headers };
    },
  });
}

export const setLogin: AdminHandler<"setLogin"> = (deps, request) => changeLogin(deps, request, request.body.username);

export const newPassword: AdminHandler<"newPassword"> = (deps, request) => changeLogin(deps, request);

export const signOutPerson: AdminHandler<"signOutPerson"> = (deps, request) =>
  changeWithPerson(deps, request, accounts.signOutPersonIn);

const changeBlock = (
  deps: AdminDeps,
  request: Request & ChangeRequest,
  work: (tx: Transaction, personId: PersonId, origin: Request["origin"]) => Promise<void>,
) => {
  const { personId, reach, origin } = request;
  return changeRecord(deps, request, {
    touch: (tx) => lockReached(tx, request),
    record: (tx) => readPerson(tx, reach, personId),
    work: (tx) => work(tx, personId, origin),
    without: passing,
  });
};

export const blockPerson: AdminHandler<"blockPerson"> = (deps, request) =>
  changeBlock(deps, request, async (tx, personId, origin) => {
    await refuseLastOperatorLeaves(tx, { personId });
    await accounts.blockPersonIn(tx, personId, origin);
  });

export const unblockPerson: AdminHandler<"unblockPerson"> = (deps, request) =>
  changeBlock(deps, request, accounts.unblockPersonIn);

// Applies also to people whose staff role exceeds the caller's, because the home school decides.
export const requestPassword: AdminHandler<"requestPassword"> = (deps, request) =>
  commitDone(deps, request, async (tx) => {
    const { personId, body, reach, origin } = request;
    const { schoolId } = body;
    await accounts.lockPersonSignIn(tx, personId);
    await getReachedPerson(tx, reach, personId);
    refuseOtherSchool(reach, schoolId);
    await accounts.requestPasswordIn(tx, { personId, schoolId }, origin);
  });

export const withdrawPasswordRequests: AdminHandler<"withdrawPasswordRequests"> = (deps, request) =>
  changeWithPerson(deps, request, accounts.withdrawPasswordRequestsIn);

export const listSecondFactors: AdminHandler<"listSecondFactors"> = async ({ db }, { personId, reach, page }) => {
  await getReachedPerson(db, reach, personId);
  return page.answerFrom(await accounts.listSecondFactors(db, personId), (factor) => present("SecondFactor", factor));
};

export const revokeSecondFactors: AdminHandler<"revokeSecondFactors"> = (deps, request) =>
  changeWithPerson(deps, request, accounts.revokeSecondFactorsIn);

type PasswordsRequest = Pick<AdminRequest<"createGroupPasswords">, "origin" | "keep" | "caller">;

function makeFor({ db }: Pick<AdminDeps, "db">, { origin, keep, caller }: PasswordsRequest, wishes: PasswordsFor) {
  return makePasswords(db, wishes, {
    origin,
    listRefused: async (tx, personIds) => {
      const higher = await listHigherHolders(tx, { personIds, mine: caller.roles, now: origin.at });
      return new Set([...higher, ...(await listGuests(tx, { schoolId: wishes.schoolId, personIds }))]);
    },
    finish: async (tx, made: MadeLogin[]) =>
      keep(tx, { status: 200 as const, body: made.map((login) => present("NamedLoginSecret", login)) }),
  });
}

export const createSchoolPasswords: AdminHandler<"createSchoolPasswords"> = (deps, request) => {
  const { schoolId, body } = request;
  return makeFor(deps, request, { schoolId, onlyMissing: body.onlyMissing, roles: body.roles });
};

export const createGroupPasswords: AdminHandler<"createGroupPasswords"> = async (deps, request) => {
  const { groupId, body, reach } = request;
  const { schoolId } = await readGroup(deps.db, reach, groupId);
  const { onlyMissing, personIds } = body;
  return makeFor(deps, request, { schoolId: schoolId as SchoolId, onlyMissing, groupId, personIds });
};
