import type { Prisma } from "../../../generated/prisma/client.ts";
import type { RecordStore } from "../../platform/database/db.ts";
import { appAttributes, type AppAttribute } from "../attributes.ts";
import type { ClientId, ScopeName } from "../token.ts";
import type { SchoolId } from "../../directory/index.ts";
import type { GrantKey } from "../grants/grant.ts";

export type AgreementId = string & { readonly __agreementId: true };

type Texts = { de: string | null; en: string | null };

/** A version of what the provider of an app agrees with schools. A published one never changes. */
export type Agreement = {
  id: AgreementId;
  clientId: ClientId;
  state: "DRAFT" | "PUBLISHED";
  version: string;
  /** As they were when it was published. */
  appName: string | null;
  provider: string | null;
  document: { type: "TEXT" | "PDF"; sha256: string; bytes: number } | null;
  text: string | null;
  deletionPeriods: Texts;
  subprocessors: { name: string; country: string; purpose: string }[];
  /** What each attribute and scope is needed for. */
  attributes: { attribute: AppAttribute; isRequired: boolean; purpose: Texts }[];
  scopes: { scope: ScopeName; isRequired: boolean; purpose: Texts }[];
  createdAt: Date;
  publishedAt: Date | null;
};

const parts = {
  purposes: { select: { item: true, required: true, purposeDe: true, purposeEn: true } },
  subprocessors: { select: { name: true, country: true, purpose: true }, orderBy: { place: "asc" } },
} satisfies Prisma.AgreementInclude;

const agreementQuery = { omit: { pdf: true }, include: parts } satisfies Prisma.AgreementFindManyArgs;

const isAttribute = (item: string): item is AppAttribute => (appAttributes as readonly string[]).includes(item);

type Stored = Prisma.AgreementGetPayload<typeof agreementQuery>;

function agreementFrom({ deletionDe, deletionEn, sha256, bytes, purposes, ...stored }: Stored): Agreement {
  const type = stored.text === null ? "PDF" : "TEXT";
  const needs = purposes.map(({ item, required, purposeDe, purposeEn }) => ({
    item,
    need: { isRequired: required, purpose: { de: purposeDe, en: purposeEn } },
  }));
  return {
    ...stored,
    id: stored.id as AgreementId,
    clientId: stored.clientId as ClientId,
    state: stored.publishedAt === null ? "DRAFT" : "PUBLISHED",
    document: sha256 === null || bytes === null ? null : { type, sha256, bytes },
    deletionPeriods: { de: deletionDe, en: deletionEn },
    attributes: needs.flatMap(({ item, need }) => (isAttribute(item) ? [{ attribute: item, ...need }] : [])),
    scopes: needs.flatMap(({ item, need }) => (isAttribute(item) ? [] : [{ scope: item as ScopeName, ...need }])),
  };
}

/** Newest first, with the draft. */
export async function listAgreements(
  { prisma }: RecordStore,
  { clientId, limit, after }: { clientId: ClientId; limit: number; after?: string | undefined },
): Promise<Agreement[]> {
  const agreements = await prisma.agreement.findMany({
    ...agreementQuery,
    where: { clientId, ...(after !== undefined && { id: { lt: after } }) },
    orderBy: { id: "desc" },
    take: limit,
  });
  return agreements.map(agreementFrom);
}

export async function findDraft({ prisma }: RecordStore, clientId: ClientId): Promise<Agreement | null> {
  const draft = await prisma.agreement.findFirst({ ...agreementQuery, where: { clientId, publishedAt: null } });
  return draft && agreementFrom(draft);
}

export async function currentAgreement({ prisma }: RecordStore, clientId: ClientId): Promise<Agreement | null> {
  const newest = await prisma.agreement.findFirst({
    ...agreementQuery,
    where: { clientId, publishedAt: { not: null } },
    orderBy: [{ publishedAt: "desc" }, { id: "desc" }],
  });
  return newest && agreementFrom(newest);
}

export async function findAgreementPdf(
  { prisma }: RecordStore,
  id: AgreementId,
): Promise<{ clientId: ClientId; isPublished: boolean; sha256: string; pdf: Uint8Array } | null> {
  const select = { clientId: true, publishedAt: true, sha256: true, pdf: true } as const;
  const agreement = await prisma.agreement.findUnique({ where: { id }, select });
  if (agreement === null || agreement.pdf === null) return null;
  const { clientId, publishedAt, sha256, pdf } = agreement;
  return { clientId: clientId as ClientId, isPublished: publishedAt !== null, sha256: sha256!, pdf };
}

export type ReceiptId = string & { readonly __receiptId: true };

const ofVersion = { agreement: { select: { appName: true, provider: true, version: true, sha256: true } } } as const;

type StoredReceipt = Prisma.AgreementAcceptanceGetPayload<{ include: typeof ofVersion }>;

/**
 * A school agreed to a version. It is in force until it is replaced or withdrawn. `attributes` and `scopes` are what
 * the app had, and what the school agreed to; `withheld` is what the school switched off at the same time.
 */
export type AgreementReceipt = Omit<StoredReceipt, "agreement"> &
  GrantKey & {
    id: ReceiptId;
    agreementId: AgreementId;
    scopes: ScopeName[];
    appName: string;
    provider: string | null;
    version: string;
    sha256: string;
  };

const receiptFrom = ({ agreement: { appName, provider, version, sha256 }, ...stored }: StoredReceipt) =>
  ({ ...stored, appName: appName!, provider, version, sha256: sha256! }) as AgreementReceipt;

type ReceiptFilter = {
  schoolId: SchoolId;
  clientId?: ClientId | undefined;
  limit: number;
  after?: string | undefined;
};

/** Newest first. */
export async function listReceipts({ prisma }: RecordStore, { schoolId, clientId, limit, after }: ReceiptFilter) {
  const where = {
    schoolId,
    ...(clientId !== undefined && { clientId }),
    ...(after !== undefined && { id: { lt: after } }),
  };
  const query = { where, include: ofVersion, orderBy: { id: "desc" as const }, take: limit };
  return (await prisma.agreementAcceptance.findMany(query)).map(receiptFrom);
}

/** A receipt with the version that it is about. */
export async function findReceipt({ prisma }: RecordStore, { schoolId, id }: { schoolId: SchoolId; id: string }) {
  const acceptance = await prisma.agreementAcceptance.findFirst({ where: { schoolId, id }, include: withAgreement });
  return acceptance && { receipt: receiptFrom(acceptance), agreement: agreementFrom(acceptance.agreement) };
}

const withAgreement = { agreement: agreementQuery } as const;

export async function findInForce({ prisma }: RecordStore, { clientId, schoolId }: GrantKey) {
  const where = { clientId, schoolId, replacedAt: null, withdrawnAt: null };
  const receipt = await prisma.agreementAcceptance.findFirst({ where, include: ofVersion });
  return receipt && receiptFrom(receipt);
}

/** The versions in force at a school, by the app. */
export async function listAgreementsInForce({ prisma }: RecordStore, schoolId: SchoolId) {
  const where = { schoolId, replacedAt: null, withdrawnAt: null };
  const receipts = await prisma.agreementAcceptance.findMany({ where, include: withAgreement });
  return new Map(
    receipts.map(({ clientId, acceptedAt, agreement }) => [
      clientId as ClientId,
      { acceptedAt, agreement: agreementFrom(agreement) },
    ]),
  );
}
