import type { Prisma } from "../../generated/prisma/client.ts";
import type { SchoolId } from "../directory/index.ts";
import type { RecordStore } from "../platform/database/db.ts";
import { agreementFrom, agreementQuery, type Agreement, type AgreementId } from "./agreement.ts";
import type { AppAttribute } from "./attributes.ts";
import type { GrantKey } from "./grant.ts";
import type { ClientId, ScopeName } from "./token.ts";

export type ReceiptId = string & { readonly __receiptId: true };

/** A school agreed to a version. It is in force until it is replaced or withdrawn. */
export type AgreementReceipt = GrantKey & {
  id: ReceiptId;
  agreementId: AgreementId;
  appName: string;
  provider: string | null;
  version: string;
  sha256: string;
  acceptedAt: Date;
  /** An actor as in the audit. */
  acceptedBy: string | null;
  acceptedRole: string | null;
  /** What the app had: the school agreed to these. */
  attributes: AppAttribute[];
  scopes: ScopeName[];
  /** What the school switched off when it agreed. */
  withheld: AppAttribute[];
  replacedAt: Date | null;
  withdrawnAt: Date | null;
  withdrawnBy: string | null;
  withdrawnRole: string | null;
};

const ofVersion = { agreement: { select: { appName: true, provider: true, version: true, sha256: true } } } as const;

type Stored = Prisma.AgreementAcceptanceGetPayload<{ include: typeof ofVersion }>;

const receiptFrom = ({ agreement, ...stored }: Stored): AgreementReceipt => ({
  ...stored,
  id: stored.id as ReceiptId,
  agreementId: stored.agreementId as AgreementId,
  clientId: stored.clientId as ClientId,
  schoolId: stored.schoolId as SchoolId,
  scopes: stored.scopes as ScopeName[],
  appName: agreement.appName!,
  provider: agreement.provider,
  version: agreement.version,
  sha256: agreement.sha256!,
});

type ReceiptFilter = {
  schoolId: SchoolId;
  clientId?: ClientId | undefined;
  limit: number;
  after?: string | undefined;
};

/** Newest first. */
export async function listReceipts(
  { prisma }: RecordStore,
  { schoolId, clientId, limit, after }: ReceiptFilter,
): Promise<AgreementReceipt[]> {
  const where = {
    schoolId,
    ...(clientId !== undefined && { clientId }),
    ...(after !== undefined && { id: { lt: after } }),
  };
  const query = { where, include: ofVersion, orderBy: { id: "desc" as const }, take: limit };
  return (await prisma.agreementAcceptance.findMany(query)).map(receiptFrom);
}

/** A receipt with the version that it is about. */
export async function findReceipt(
  { prisma }: RecordStore,
  { schoolId, id }: { schoolId: SchoolId; id: string },
): Promise<{ receipt: AgreementReceipt; agreement: Agreement } | null> {
  const include = { agreement: agreementQuery } as const;
  const found = await prisma.agreementAcceptance.findFirst({ where: { schoolId, id }, include });
  return found && { receipt: receiptFrom(found), agreement: agreementFrom(found.agreement) };
}

type InForce = { schoolId: SchoolId; clientId?: ClientId | undefined; at?: Date | undefined };

const after = (name: "replacedAt" | "withdrawnAt", at: Date | undefined): Prisma.AgreementAcceptanceWhereInput =>
  at === undefined ? { [name]: null } : { OR: [{ [name]: null }, { [name]: { gt: at } }] };

/** The receipts in force at a school, now or at a time; one for an app. */
export async function listInForce(
  { prisma }: RecordStore,
  { schoolId, clientId, at }: InForce,
): Promise<AgreementReceipt[]> {
  const where: Prisma.AgreementAcceptanceWhereInput = {
    schoolId,
    ...(clientId !== undefined && { clientId }),
    ...(at !== undefined && { acceptedAt: { lte: at } }),
    AND: [after("replacedAt", at), after("withdrawnAt", at)],
  };
  const found = await prisma.agreementAcceptance.findMany({ where, include: ofVersion, orderBy: { clientId: "asc" } });
  return found.map(receiptFrom);
}

export const findInForce = async (
  db: RecordStore,
  key: GrantKey & { at?: Date | undefined },
): Promise<AgreementReceipt | null> => (await listInForce(db, key))[0] ?? null;
