import { auditChange, type Change } from "../../directory/index.ts";
import { makeUuid } from "../../platform/crypto/ids.ts";
import type { Store, Transaction } from "../../platform/database/db.ts";
import { makeRun, table } from "../../platform/database/sql.ts";
import { AppError } from "../../platform/errors.ts";
import { appNotFound, findApp } from "../apps/find.ts";
import type { AppAttribute } from "../attributes.ts";
import { recordWithheld } from "../disclosure/record.ts";
import { setSync, type GrantKey } from "../grants/grant.ts";
import type { ClientId, ScopeName } from "../token.ts";
import { chosenBySchool, listWithheld, setWithheld, type Withheld } from "../withheld.ts";
import { currentAgreement, findInForce, findReceipt, type Agreement } from "./agreement.ts";
import type { AgreementId, AgreementReceipt } from "./agreement.ts";

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
const shareApp = makeRun<{ clientId: ClientId }>("access.holdAppForAgreement")`
  SELECT FROM ${app} WHERE ${app.clientId} = ${"clientId"} FOR SHARE`;

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
  await shareApp(change.tx, { clientId });
}

type Acceptance = GrantKey & { agreementId: AgreementId; withheld?: readonly AppAttribute[] | undefined };

/**
 * The school agrees to the current version and to all that the app has; `withheld` are then switched off. Returns
 * false, and writes nothing, if exactly this is in force.
 *
 * Errors: not_found app_not_found, app_or_school_not_found; conflict agreement_not_current, attribute_required.
 */
export async function acceptAgreement(change: Change, { agreementId, withheld: chosen, ...key }: Acceptance) {
  const { tx, now, actorId = null, actorRole = null } = change;
  await holdForAgreement(change, key);
  const { current, state, withheld, attributes: held, scopes } = await findSchoolAgreement(tx, key);
  if (current === null || current.id !== agreementId)
    throw conflict("agreement_not_current", "This is not the current version of the agreement. Read it again.");
  const attributes = [...new Set(chosen ?? chosenBySchool(withheld))];
  refuseRequired(current, attributes);
  const isOther = await setWithheld(change, { ...key, attributes });
  if (state === "ACCEPTED" && !isOther) return false;
  await tx.prisma.withheldItem.deleteMany({ where: { ...key, reason: "NOT_AGREED" } });
  await recordWithheld(tx, { ...key, at: now });
  const { agreementAcceptance } = tx.prisma;
  const inForce = { ...key, replacedAt: null, withdrawnAt: null };
  await agreementAcceptance.updateMany({ where: inForce, data: { replacedAt: now } });
  const id = makeUuid(now);
  const acceptance = { acceptedAt: now, acceptedBy: actorId, acceptedRole: actorRole, attributes: held, scopes };
  await agreementAcceptance.create({ data: { id, agreementId, ...key, ...acceptance, withheld: attributes.sort() } });
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
  const { tx, now, actorId = null, actorRole = null } = change;
  await change.touchSchool(key.schoolId, key.clientId);
  const accepted = await findInForce(tx, key);
  if (accepted === null) throw conflict("agreement_not_in_force", "The school has no agreement with this app.");
  const data = { withdrawnAt: now, withdrawnBy: actorId, withdrawnRole: actorRole };
  await tx.prisma.agreementAcceptance.update({ where: { id: accepted.id }, data });
  const grant = await tx.prisma.grant.findUnique({ where: { clientId_schoolId: key }, select: { sync: true } });
  const endsSync = grant?.sync === true;
  const detail = { receipt: accepted.id, version: accepted.version, endsSync };
  await auditChange(change, { action: "agreement_withdrawn", ...key, detail });
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

/** The state of the agreement of an app at a school; only CURRENT lets the school share data with it. */
export async function agreementStateOf(tx: Transaction, key: GrantKey): Promise<"MISSING" | "NOT_AGREED" | "CURRENT"> {
  const current = await currentAgreement(tx, key.clientId);
  const accepted = await findInForce(tx, key);
  if (current === null) return "MISSING";
  return accepted?.agreementId === current.id ? "CURRENT" : "NOT_AGREED";
}

/** Errors: conflict agreement_missing unless the school agreed to the current version. */
export async function refuseWithoutAgreement(tx: Transaction, key: GrantKey): Promise<void> {
  const state = await agreementStateOf(tx, key);
  if (state === "CURRENT") return;
  const message =
    state === "MISSING"
      ? "Sync needs an agreement, and the provider of the app has not published one."
      : "Sync can be switched on once the school has agreed to the current agreement of the app.";
  throw conflict("agreement_missing", message);
}
