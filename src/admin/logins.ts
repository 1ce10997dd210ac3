import { againAfterDeadlock } from "../access/index.ts";
import type { PersonId } from "../directory/index.ts";
import { recordDifference } from "../events/index.ts";
import { present } from "../platform/contract-types.ts";
import { withPrismaTransaction, type RecordStore, type Transaction } from "../platform/database/db.ts";
import { AppError } from "../platform/errors.ts";
import {
  blockPersonIn,
  findLogin,
  findMayUsePassword,
  findOwnPassword,
  findSignInSettingsOf,
  hashPassword,
  lockPersonSignIn,
  makePassword,
  setLoginIn,
  signOutPersonIn,
  unblockPersonIn,
} from "../accounts/index.ts";
import { refuseHigherHolder, refuseLastOperatorLeaves } from "../staff/index.ts";
import { differenceOf, refuseStale, tagOf } from "./change.ts";
import type { AdminCaller, AdminDeps, AdminHandler, AdminRequest, Schemas } from "./handler.ts";
import { personTag, readPerson, refuseStalePerson } from "./person-record.ts";
import { getReachedPerson } from "./whose-person.ts";

type Login = NonNullable<Schemas["StoredLogin"]>;

export const loginUnknown = () => new AppError("not_found", "login_not_found", "The person has no login.");
const counts = ["sessions"] as const;

export async function readLogin(db: RecordStore, personId: PersonId, now: Date): Promise<Login | null> {
  const found = await findLogin(db, personId, now);
  if (found === null) return null;
  const { username, hasPassword, changedAt, blockedAt, sessions } = found;
  return present<Login>({ personId, username, hasPassword, changedAt, blockedAt, sessions });
}

export const getLogin: AdminHandler<"getLogin"> = async ({ db }, { personId, reach, origin }) => {
  await getReachedPerson(db, reach, personId);
  const now = origin.at;
  const [login, own] = [await readLogin(db, personId, now), await findOwnPassword(db, personId, now)];
  if (login === null) throw loginUnknown();
  const usesPassword = own?.isUsed ?? (await findMayUsePassword(db.pool, { personId, now }));
  const body = present<Schemas["Login"]>({ ...login, usesPassword, mayChangePassword: own?.isAllowed ?? false });
  return { status: 200, body, headers: { ETag: tagOf(login, counts) } };
};

type Request = Pick<AdminRequest<"blockPerson">, "personId" | "reach" | "origin"> & { caller: AdminCaller };

/** Runs `work` in a transaction that locks the login and the block of the person. */
export function withPerson<T>(
  { db }: Pick<AdminDeps, "db">,
  { personId, reach, origin, caller }: Request,
  work: (tx: Transaction, personId: PersonId) => Promise<T>,
): Promise<T> {
  return againAfterDeadlock(() =>
    withPrismaTransaction(db, async (tx) => {
      await lockPersonSignIn(tx, personId);
      await getReachedPerson(tx, reach, personId);
      await refuseHigherHolder(tx, { holder: { personId }, mine: caller.roles, now: origin.at });
      return work(tx, personId);
    }),
  );
}

/** The same for a change whose answer has no body. */
export const changeWithPerson = (
  deps: Pick<AdminDeps, "db">,
  request: Request,
  change: (tx: Transaction, personId: PersonId, origin: Request["origin"]) => Promise<unknown>,
) =>
  withPerson(deps, request, async (tx, personId) => {
    await change(tx, personId, request.origin);
    return { status: 204 as const };
  });

type NewLogin = { before: Login | null; username: string } & Awaited<ReturnType<typeof makeLogin>>;

/** Makes a password in the format of the home school, with its hash. */
export async function makeLogin(db: Pick<RecordStore, "prisma">, personId: string, hash = hashPassword) {
  const settings = await findSignInSettingsOf(db, personId as PersonId);
  const password = makePassword(settings?.passwordKind ?? "LETTERS");
  const mustChange = settings?.mustChangePassword ?? false;
  return { password, mustChange, passwordHash: await hash(password) };
}

async function writeLogin(
  tx: Transaction,
  { origin, personId }: Pick<Request, "origin"> & { personId: PersonId },
  { before, username, password, passwordHash, mustChange }: NewLogin,
) {
  await setLoginIn(tx, { personId, username, passwordHash, mustChange }, origin);
  const after = (await readLogin(tx, personId, origin.at))!;
  await recordDifference(tx, origin, differenceOf(before, after));
  const body = present<Schemas["LoginSecret"]>({ personId, username: after.username, password });
  return { status: 200 as const, body, headers: { ETag: tagOf(after, counts) } };
}

export const setLogin: AdminHandler<"setLogin"> = async (deps, request) => {
  const made = await makeLogin(deps.db, request.personId);
  return withPerson(deps, request, async (tx, personId) => {
    const { origin, headers, body } = request;
    const before = await readLogin(tx, personId, origin.at);
    refuseStale(headers, before, counts);
    return writeLogin(tx, { origin, personId }, { before, username: body.username, ...made });
  });
};

export const newPassword: AdminHandler<"newPassword"> = async (deps, request) => {
  const made = await makeLogin(deps.db, request.personId);
  return withPerson(deps, request, async (tx, personId) => {
    const { origin, keep } = request;
    const before = await readLogin(tx, personId, origin.at);
    if (before === null) throw loginUnknown();
    return keep(tx, await writeLogin(tx, { origin, personId }, { before, username: before.username, ...made }));
  });
};

export const signOutPerson: AdminHandler<"signOutPerson"> = (deps, request) =>
  changeWithPerson(deps, request, signOutPersonIn);

const changeBlock = (deps: AdminDeps, request: Request & { headers?: object }, work: typeof blockPersonIn) =>
  withPerson(deps, request, async (tx, personId) => {
    const { reach, origin, headers = {} } = request;
    const before = await readPerson(tx, reach, personId);
    refuseStalePerson(headers, before);
    await work(tx, personId, origin);
    const after = await readPerson(tx, reach, personId);
    await recordDifference(tx, origin, differenceOf(before, after));
    return { status: 204 as const, headers: { ETag: personTag(after) } };
  });

export const blockPerson: AdminHandler<"blockPerson"> = (deps, request) =>
  changeBlock(deps, request, async (tx, personId, origin) => {
    await refuseLastOperatorLeaves(tx, { personId });
    await blockPersonIn(tx, personId, origin);
  });

export const unblockPerson: AdminHandler<"unblockPerson"> = (deps, request) =>
  changeBlock(deps, request, unblockPersonIn);
