import { auditChange, type Change } from "../directory/index.ts";
import { makeUuid } from "../platform/crypto/ids.ts";
import type { Store, Transaction } from "../platform/database/db.ts";
import { AppError } from "../platform/errors.ts";
import { findRows, sql, statement, table } from "../platform/database/sql.ts";
import { currentAgreement, type Agreement, type AgreementId } from "./agreement.ts";
import { findInForce, findReceipt, type AgreementReceipt } from "./agreement-receipt.ts";
import { appNotFound } from "./app.ts";
import type { AppAttribute } from "./attributes.ts";
import { recordWithheld } from "./disclosure/withheld.ts";
import { findApp } from "./find-app.ts";
import { setSync, type GrantKey } from "./grant.ts";
import type { ClientId, ScopeName } from "./token.ts";
import { listWithheld, setWithheld, type Withheld } from "./withheld.ts";

export type SchoolAgreement = {
  state: "NONE" | "OPEN" | "ACCEPTED" | "CHANGED";
  current: Agreement | null;
  accepted: AgreementReceipt | null;
  /** What the app has, and what the school agrees to. */
  attributes: AppAttribute[];
  scopes: ScopeName[];
  /** What the app has and the school has not agreed to; empty if nothing is in force. */
  addedAttributes: AppAttribute[];
  addedScopes: ScopeName[];
  withheld: Withheld[];
};

const conflict = (code: string, message: string) => new AppError("conflict", code, message);

/** Errors: not_found app_not_found. */
export async function findSchoolAgreement(db: Store, key: GrantKey): Promise<SchoolAgreement> {
  const app = await findApp(db, key.clientId);
  if (app === null) throw appNotFound();
  const current = await currentAgreement(db, key.clientId);
  const accepted = await findInForce(db, key);
  const { attributes, scopes } = app;
  const addedAttributes = attributes.filter((name) => accepted?.attributes.includes(name) === false);
  const addedScopes = scopes.filter((name) => accepted?.scopes.includes(name) === false);
  const isAnswered = accepted?.agreementId === current?.id && addedAttributes.length + addedScopes.length === 0;
  const state = current === null ? "NONE" : accepted === null ? "OPEN" : isAnswered ? "ACCEPTED" : "CHANGED";
  const withheld = await listWithheld(db, key);
  return { state, current, accepted, attributes, scopes, addedAttributes, addedScopes, withheld };
}

const app = table("app");
const shareApp = statement<{ clientId: ClientId }>(
  ({ clientId }) => sql`SELECT FROM ${app} WHERE ${app.clientId} = ${clientId} FOR SHARE`,
  "access.holdAppForAgreement",
);

/** Errors: conflict attribute_required. */
function refuseRequired(agreement: Agreement | null, withheld: readonly AppAttribute[]): void {
  const required = agreement?.attributes.find(
    ({ attribute, isRequired }) => isRequired && withheld.includes(attribute),
  );
  if (required !== undefined)
    throw conflict("attribute_required", `The agreement names ${required.attribute} as required.`);
}

/** Several schools may agree at the same time, while the app gets nothing new. */
export async function holdForAgreement(change: Change, { schoolId, clientId }: GrantKey): Promise<void> {
  await change.touchSchool(schoolId, clientId);
  await findRows(change.tx, shareApp, { clientId });
}

type Acceptance = GrantKey & { agreementId: AgreementId; withheld?: readonly AppAttribute[] | undefined };

/**
 * The school agrees to the current version and to all that the app has; `withheld` are then switched off. Returns
 * false, and writes nothing, if exactly this is in force.
 *
 * Errors: not_found app_not_found, app_or_school_not_found; conflict agreement_not_current, attribute_required.
 */
export async function acceptAgreement(
  change: Change,
  { agreementId, withheld: chosen, ...key }: Acceptance,
): Promise<boolean> {
  const { tx, now, actorId, actorRole } = change;
  await holdForAgreement(change, key);
  const { current, state, withheld, attributes: held, scopes } = await findSchoolAgreement(tx, key);
  if (current === null || current.id !== agreementId)
    throw conflict("agreement_not_current", "This is not the current version of the agreement. Read it again.");
  const before = withheld.filter(({ reason }) => reason === "SCHOOL").map(({ item }) => item as AppAttribute);
  const attributes = [...new Set(chosen ?? before)];
  refuseRequired(current, attributes);
  const isOther = await setWithheld(change, { ...key, attributes });
  if (state === "ACCEPTED" && !isOther) return false;
  await tx.prisma.withheldItem.deleteMany({ where: { ...key, reason: "NOT_AGREED" } });
  await recordWithheld(tx, { ...key, at: now });
  const { agreementAcceptance } = tx.prisma;
  const inForce = { ...key, replacedAt: null, withdrawnAt: null };
  await agreementAcceptance.updateMany({ where: inForce, data: { replacedAt: now } });
  const who = { acceptedBy: actorId ?? null, acceptedRole: actorRole ?? null };
  const given = { attributes: held, scopes, withheld: attributes.sort() };
  const id = makeUuid(now);
  await agreementAcceptance.create({ data: { id, agreementId, ...key, acceptedAt: now, ...who, ...given } });
  const detail = { receipt: id, version: current.version, sha256: current.document!.sha256 };
  await auditChange(change, { action: "agreement_accepted", ...key, detail });
  return true;
}

/**
 * The school no longer agrees: sync to the app ends with it.
 *
 * Errors: conflict agreement_not_in_force.
 */
export async function withdrawAgreement(change: Change, key: GrantKey): Promise<void> {
  const { tx, now, actorId, actorRole } = change;
  await change.touchSchool(key.schoolId, key.clientId);
  const accepted = await findInForce(tx, key);
  if (accepted === null) throw conflict("agreement_not_in_force", "The school has no agreement with this app.");
  const data = { withdrawnAt: now, withdrawnBy: actorId ?? null, withdrawnRole: actorRole ?? null };
  await tx.prisma.agreementAcceptance.update({ where: { id: accepted.id }, data });
  const grant = await tx.prisma.grant.findUnique({ where: { clientId_schoolId: key }, select: { sync: true } });
  const endsSync = grant?.sync === true;
  await auditChange(change, {
    action: "agreement_withdrawn",
    ...key,
    detail: { receipt: accepted.id, version: accepted.version, endsSync },
  });
  if (endsSync) await setSync(change, { ...key, sync: false });
}

/**
 * `setWithheld` for a school, which cannot withhold what the version that it agreed to, or without one the current
 * version, names as required.
 *
 * Errors: not_found app_or_school_not_found; conflict attribute_required.
 */
export async function chooseWithheld(
  change: Change,
  { attributes, ...key }: GrantKey & { attributes: readonly AppAttribute[] },
): Promise<void> {
  await change.touchSchool(key.schoolId, key.clientId);
  const accepted = await findInForce(change.tx, key);
  const inForce = accepted && (await findReceipt(change.tx, accepted));
  refuseRequired(inForce?.agreement ?? (await currentAgreement(change.tx, key.clientId)), attributes);
  await setWithheld(change, { ...key, attributes });
}

/** Errors: conflict agreement_missing unless the school agreed to the current version. */
export async function refuseWithoutAgreement(tx: Transaction, key: GrantKey): Promise<void> {
  const current = await currentAgreement(tx, key.clientId);
  const accepted = await findInForce(tx, key);
  if (current !== null && accepted?.agreementId === current.id) return;
  const message =
    current === null
      ? "Sync needs an agreement, and the provider of the app has not published one."
      : "Sync can be switched on once the school has agreed to the current agreement of the app.";
  throw conflict("agreement_missing", message);
}
