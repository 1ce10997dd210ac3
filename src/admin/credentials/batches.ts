import { isDeepStrictEqual } from "node:util";
import { stringify } from "csv-stringify/sync";
import { againAfterDeadlock, previewChange } from "../../access/index.ts";
import { describeAct, type PersonId, type SchoolId } from "../../directory/index.ts";
import { recordAudit } from "../../events/index.ts";
import { withPrismaTransaction, type Transaction } from "../../platform/database/db.ts";
import { AppError } from "../../platform/errors.ts";
import { csvFile } from "../../platform/text/csv.ts";
import * as accounts from "../../accounts/index.ts";
import type { BatchId, BatchWishes, CardSettings, CountedBatch, Prepared } from "../../accounts/index.ts";
import { listHigherHolders } from "../../staff/index.ts";
import { answerRecord, commit, refuseStale } from "../change.ts";
import { findManyHolders, type CardHolder } from "./card-holders.ts";
import { cardTexts } from "../card-pdf/texts.ts";
import {
  attachmentOf,
  cardsDisabled,
  fullName,
  giveCredentials,
  presentMade,
  printCards,
  type LeftOut,
  type Printable,
} from "./cards.ts";
import { present, type AdminDeps, type AdminHandler, type AdminRequest, type Schemas } from "../handler.ts";

type Request = AdminRequest<"takeCredentialBatch">;

const presentBatch = (batch: CountedBatch): Schemas["CredentialBatch"] => {
  const { groupIds, readyAt, handedOutAt } = batch;
  const state = handedOutAt !== null ? "HANDED_OUT" : readyAt !== null ? "READY" : "PREPARING";
  return present("CredentialBatch", { ...batch, state, groupIds: groupIds.length === 0 ? null : groupIds });
};

const filterOf = ({ groupIds, roles, newPasswords, withQr, onlyMissing }: Omit<BatchWishes, "schoolId">) => ({
  ...(groupIds.length === 0 ? { roles } : { groupIds }),
  ...(onlyMissing && { lacks: { password: newPasswords, card: withQr } }),
});

const student = "STUDENT";

/** Separates who gets something from who is left out. Only a card with a QR code is refused to all holders of roles. */
async function sortHolders(
  tx: Pick<Transaction, "prisma">,
  holders: readonly CardHolder[],
  { withQr, caller, now }: { withQr: boolean; caller: Request["caller"]; now: Date },
): Promise<{ given: CardHolder[]; leftOut: LeftOut[] }> {
  const personIds = holders.filter(({ skip }) => skip === "STAFF").map(({ personId }) => personId);
  const refused = withQr ? new Set(personIds) : await listHigherHolders(tx, { personIds, mine: caller.roles, now });
  const isGiven = ({ personId, skip }: CardHolder) =>
    skip === null || skip === "NO_LOGIN" || (skip === "STAFF" && !refused.has(personId));
  const leftOut = holders.flatMap((holder) => {
    const { name, className, skip } = holder;
    return skip === null || isGiven(holder) ? [] : [{ name, className, reason: skip }];
  });
  return { given: holders.filter(isGiven), leftOut };
}

export const createCredentialBatch: AdminHandler<"createCredentialBatch"> = async (deps, request) => {
  const { schoolId, reach, body, origin, caller } = request;
  const { groupIds = [], roles = [student], newPasswords, withQr, withLetters = false, onlyMissing } = body;
  if (!newPasswords && !withQr && !withLetters)
    throw new AppError("invalid", "invalid_request", "Ask for newPasswords, withQr or withLetters.");
  if (withLetters && roles.some((role) => role !== student))
    throw new AppError("invalid", "letters_for_students_only", "Letters to parents are for students only.");
  if (withQr && !(await accounts.readCardSettings(deps.db, schoolId)).enabled) throw cardsDisabled();
  const wishes = { groupIds, roles, newPasswords, withQr, withLetters, onlyMissing };
  const now = origin.at;
  const holders = await findManyHolders(deps.db, { schoolId, reach, now }, filterOf(wishes));
  const { given } = await sortHolders(deps.db, holders, { withQr, caller, now });
  if (given.length === 0)
    throw new AppError(
      "conflict",
      "nobody_without_credentials",
      "Nobody is left. All of these people have what was asked for, or are guests.",
    );
  if (given.length > accounts.mostInBatch)
    throw new AppError(
      "conflict",
      "too_many_people",
      `These are more than ${accounts.mostInBatch} people. Make passwords for one group after the other.`,
    );
  const people = given.map(({ personId }) => personId);
  return commit(deps, request, async (tx) => {
    const own = { schoolId, caller: origin.actorId };
    const id = await accounts.createBatchIn(tx, { ...own, ...wishes, people }, now);
    return { status: 201 as const, body: presentBatch(await accounts.getBatch(tx, { ...own, id, now })) };
  });
};

const ownOf = ({ schoolId, origin }: { schoolId: SchoolId; origin: Request["origin"] }) => ({
  schoolId,
  caller: origin.actorId,
  now: origin.at,
});

export const listCredentialBatches: AdminHandler<"listCredentialBatches"> = async ({ db }, request) => {
  const { page } = request;
  return page.answer(await accounts.listBatches(db, { ...ownOf(request), ...page.range }), presentBatch);
};

type OfOne = Pick<Request, "schoolId" | "origin"> & { credentialBatchId: BatchId };

const readBatch = ({ db }: Pick<AdminDeps, "db">, request: OfOne) =>
  accounts.getBatch(db, { ...ownOf(request), id: request.credentialBatchId });

export const getCredentialBatch: AdminHandler<"getCredentialBatch"> = async (deps, request) =>
  answerRecord(presentBatch(await readBatch(deps, request)));

export const deleteCredentialBatch: AdminHandler<"deleteCredentialBatch"> = async (deps, request) => {
  const batch = await readBatch(deps, request);
  refuseStale(request.headers, presentBatch(batch));
  await accounts.deleteBatch(deps.db, batch.id as BatchId);
  return { status: 204 };
};

/**
 * The document is made before anything changes, from a look at what would be given. The change is refused if it is no
 * longer the same, so that nobody gets a password that is not in the document.
 */
export const takeCredentialBatch: AdminHandler<"takeCredentialBatch"> = async (deps, request) => {
  const { db, keys } = deps;
  const { origin, query, headers: requestHeaders } = request;
  const key = requestHeaders["Idempotency-Key"];
  const batch = await readBatch(deps, request);
  const headers = {
    ...attachmentOf(query.language, query.format),
    ...(query.format === "csv" && { "Content-Type": "text/csv; charset=utf-8" }),
  };
  if (batch.handedOutAt !== null) {
    const content = (await accounts.openHandedOut(db, { ...batch, keys, key })) as Printable;
    return { status: 200, body: await writeDocument(deps, request, content), headers };
  }
  if (batch.readyAt === null)
    throw new AppError(
      "conflict",
      "credential_batch_not_ready",
      "The document is still being prepared. Fetch it when its state is READY.",
    );
  const settings = await accounts.readCardSettings(db, request.schoolId);
  if (batch.withQr && !settings.enabled) throw cardsDisabled();
  const prepared = await accounts.openPrepared(db, { ...batch, keys });
  const giving = { batch, settings, prepared };
  const nothing = () => Promise.resolve();
  const { content: seen } = await previewChange(db, origin, nothing, (tx) => findGiven(tx, request, giving));
  const body = await writeDocument(deps, request, seen);
  await againAfterDeadlock(() =>
    withPrismaTransaction(db, async (tx) => {
      const { holders, content } = await findGiven(tx, request, giving);
      const people = holders.map(({ personId }) => personId);
      await accounts.closeBatchIn(tx, { ...batch, keys, key, people, content, now: origin.at });
      if (!isDeepStrictEqual(content, seen)) throw changedMeanwhile();
      const { schoolId } = request;
      const { groupIds } = batch;
      const { mustChangePassword: mustChange } = (await accounts.findSignInSettings(tx, schoolId))!;
      if (batch.newPasswords || batch.withQr)
        await giveCredentials(tx, holders, { schoolId, settings, prepared, mustChange, groupIds, origin });
      const detail = await describeAct(tx, { schoolId, people, groupIds });
      if (batch.withLetters) await recordAudit(tx, { ...origin, action: "parent_letters_printed", schoolId, detail });
    }),
  );
  return { status: 200, body, headers };
};

const changedMeanwhile = () =>
  new AppError(
    "conflict",
    "credential_batch_changed",
    "People of the school changed while the document was made. Nothing has changed; fetch it again.",
  );

type Giving = {
  batch: CountedBatch;
  settings: CardSettings;
  prepared: ReadonlyMap<PersonId, Prepared>;
};

/** Locks the people, gives them user names and returns what they get. */
async function findGiven(
  tx: Transaction,
  { schoolId, reach, origin, caller }: Request,
  { batch, settings, prepared }: Giving,
): Promise<{ holders: CardHolder[]; content: Required<Printable> }> {
  const { withQr, withLetters } = batch;
  const now = origin.at;
  await accounts.lockPeople(tx, [...prepared.keys()]);
  const find = async () => {
    const holders = await findManyHolders(tx, { schoolId, reach, now }, filterOf(batch));
    return sortHolders(tx, holders, { withQr, caller, now });
  };
  const { given } = await find();
  const people = given.map(({ personId }) => personId).filter((personId) => prepared.has(personId));
  await accounts.giveUserNames(tx, { schoolId, people }, now);
  const { given: named, leftOut } = await find();
  const holders = named.filter(({ personId }) => prepared.has(personId));
  const cards = holders.map((holder) => presentMade(holder, { settings, prepared }));
  return { holders, content: { cards, leftOut, withLetters, printsSecret: settings.printSecondStep } };
}

const writeDocument = (deps: AdminDeps, request: Request, content: Printable): Promise<Buffer> | Buffer =>
  request.query.format === "csv" ? writeCsv(request, content) : printCards(deps, request, content);

function writeCsv({ query: { language = "de" } }: Request, { cards }: Printable): Buffer {
  const t = cardTexts(language);
  const rows = cards.map(({ className, name, username, password }) => [
    className ?? "",
    fullName(name) ?? t("nameless"),
    username,
    password ?? "",
  ]);
  return Buffer.from(
    stringify(rows, {
      ...csvFile(language),
      columns: ["class", "name", "username", "password"].map((column) => t(column)),
    }),
  );
}
