import type { Prisma } from "../../generated/prisma/client.ts";
import type { RecordStore } from "../platform/database/db.ts";
import { appAttributes, type AppAttribute } from "./attributes.ts";
import type { ClientId, ScopeName } from "./token.ts";

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

/** Everything but the PDF. */
export const agreementQuery = { omit: { pdf: true }, include: parts } satisfies Prisma.AgreementFindManyArgs;

const isAttribute = (item: string): item is AppAttribute => (appAttributes as readonly string[]).includes(item);

type Stored = Prisma.AgreementGetPayload<typeof agreementQuery>;

export function agreementFrom({ deletionDe, deletionEn, sha256, bytes, ...stored }: Stored): Agreement {
  const { id, clientId, version, appName, provider, text, subprocessors, createdAt, publishedAt } = stored;
  const document =
    sha256 === null || bytes === null
      ? null
      : { type: text === null ? ("PDF" as const) : ("TEXT" as const), sha256, bytes };
  const purposes = stored.purposes.map(({ item, required, purposeDe, purposeEn }) => ({
    item,
    isRequired: required,
    purpose: { de: purposeDe, en: purposeEn },
  }));
  return {
    id: id as AgreementId,
    clientId: clientId as ClientId,
    state: publishedAt === null ? "DRAFT" : "PUBLISHED",
    version,
    appName,
    provider,
    document,
    text,
    deletionPeriods: { de: deletionDe, en: deletionEn },
    subprocessors,
    attributes: purposes.flatMap(({ item, ...rest }) => (isAttribute(item) ? [{ attribute: item, ...rest }] : [])),
    scopes: purposes.flatMap(({ item, ...rest }) => (isAttribute(item) ? [] : [{ scope: item as ScopeName, ...rest }])),
    createdAt,
    publishedAt,
  };
}

/** Newest first, with the draft. */
export async function listAgreements(
  { prisma }: RecordStore,
  { clientId, limit, after }: { clientId: ClientId; limit: number; after?: string | undefined },
): Promise<Agreement[]> {
  const where = { clientId, ...(after !== undefined && { id: { lt: after } }) };
  const found = await prisma.agreement.findMany({ ...agreementQuery, where, orderBy: { id: "desc" }, take: limit });
  return found.map(agreementFrom);
}

export async function findDraft({ prisma }: RecordStore, clientId: ClientId): Promise<Agreement | null> {
  const found = await prisma.agreement.findFirst({ ...agreementQuery, where: { clientId, publishedAt: null } });
  return found && agreementFrom(found);
}

/** The newest published version of each app that has one. */
export async function currentAgreements(
  { prisma }: RecordStore,
  clientIds: readonly ClientId[],
): Promise<Map<ClientId, Agreement>> {
  const versions = await prisma.agreement.findMany({
    where: { clientId: { in: [...clientIds] }, publishedAt: { not: null } },
    select: { id: true, clientId: true },
    orderBy: [{ publishedAt: "asc" }, { id: "asc" }],
  });
  const newest = [...new Map(versions.map(({ id, clientId }) => [clientId, id])).values()];
  const found = await prisma.agreement.findMany({ ...agreementQuery, where: { id: { in: newest } } });
  return new Map(found.map((one) => [one.clientId as ClientId, agreementFrom(one)]));
}

export const currentAgreement = async (db: RecordStore, clientId: ClientId): Promise<Agreement | null> =>
  (await currentAgreements(db, [clientId])).get(clientId) ?? null;

export async function findAgreementPdf(
  { prisma }: RecordStore,
  id: AgreementId,
): Promise<{ clientId: ClientId; isPublished: boolean; sha256: string; pdf: Uint8Array } | null> {
  const select = { clientId: true, publishedAt: true, sha256: true, pdf: true } as const;
  const found = await prisma.agreement.findUnique({ where: { id }, select });
  if (found === null || found.pdf === null) return null;
  const { clientId, publishedAt, sha256, pdf } = found;
  return { clientId: clientId as ClientId, isPublished: publishedAt !== null, sha256: sha256!, pdf };
}
