import type { AdminSchemas } from "../../admin/index.ts";
import { attributeNames, makeFile, makePage } from "../frame/index.ts";
import type { Download, PageRequest, PageView, Redirect } from "../frame/index.ts";
import { app } from "./app.ts";

type SchoolAgreement = AdminSchemas["SchoolAgreement"];
type Attribute = AdminSchemas["AppAttribute"];

export const agreement = `${app}/agreement`;

/** The attributes of an app as a school decides on them: only what the tag of the agreement covers. */
function describeAttributes({ attributes, current, withheldAttributes }: SchoolAgreement) {
  const isOff = (name: Attribute) =>
    withheldAttributes.some(({ attribute, reason }) => attribute === name && reason === "SCHOOL");
  return attributeNames
    .filter((name) => attributes.includes(name))
    .map((name) => {
      const need = current?.attributes.find(({ attribute }) => attribute === name);
      return { name, isRequired: need?.isRequired === true, purpose: need?.purpose ?? null, isOff: isOff(name) };
    });
}

const describeScopes = ({ scopes, current }: SchoolAgreement) =>
  scopes.map((name) => {
    const need = current?.scopes.find(({ scope }) => scope === name);
    return { name, isRequired: need?.isRequired === true, purpose: need?.purpose ?? null };
  });

/** The attributes whose boxes are not ticked. Required ones without a box, before the agreement, stay as they are. */
function readWithheld({ typed, field }: PageRequest, present: SchoolAgreement): Attribute[] {
  const names = typed["given"] ?? [];
  const accepts = field("act") === "accept";
  return describeAttributes(present)
    .filter(({ name, isRequired, isOff }) => (isRequired ? isOff && !accepts : !names.includes(name)))
    .map(({ name }) => name);
}

const readBoth = async ({ call, getRecord }: PageRequest) => {
  const [named, { record, tag }] = await Promise.all([call("getCatalogueApp"), getRecord("getSchoolAgreement")]);
  return { app: named, agreement: record, tag };
};

export async function showAgreement(request: PageRequest): Promise<PageView> {
  const { list, path, at, t, typed } = request;
  const read = await readBoth(request);
  const { items, more } = await list("listAgreementReceipts", { query: { app: path.clientId } });
  const off = Object.keys(typed).length > 0 ? readWithheld(request, read.agreement) : null;
  return makePage("agreement", t("agreement.title", { app: read.app.name }), {
    ...read,
    attributes: describeAttributes(read.agreement).map((one) => ({
      ...one,
      isOff: off?.includes(one.name) ?? one.isOff,
    })),
    scopes: describeScopes(read.agreement),
    appAddress: at(app),
    receipts: items,
    more,
  });
}

/** Shows what the app would see differently, then confirms it or goes back to the form. */
export async function changeAgreement(request: PageRequest): Promise<PageView | Redirect> {
  const { call, at, field, t } = request;
  if (field("step") === "edit") return showAgreement(request);
  const { app: named, agreement: present } = await readBoth(request);
  const withheld = readWithheld(request, present);
  const accepts = field("act") === "accept";
  const change = (isDry: boolean) => {
    const query = { "dry-run": isDry };
    return accepts
      ? call("acceptAgreement", { query, body: { agreementId: field("agreementId"), withheld } })
      : call("putWithheldAttributes", { query, body: { attributes: withheld } });
  };
  if (field("step") === "confirm") {
    await change(false);
    return { to: at(agreement), done: accepts ? "agreed" : "attributesSet" };
  }
  return makePage("agreement-preview", t("apps.preview.title", { app: named.name }), {
    changes: (await change(true)) ?? [],
    accepts,
    agreementId: field("agreementId"),
    version: present.current?.version ?? "",
    given: present.attributes.filter((name) => !withheld.includes(name)),
    withheld,
    tag: field("tag"),
  });
}

export const loadAgreement = async (request: PageRequest): Promise<Download> =>
  loadDocument(request, (await request.call("getSchoolAgreement")).current ?? null);

export async function loadDocument(
  { call, t }: PageRequest,
  version: Pick<AdminSchemas["Agreement"], "id" | "text" | "version"> | null,
): Promise<Download> {
  const name = `${t("agreement.file")}-${(version?.version ?? "").replace(/[^\w.-]+/g, "_")}`;
  if (version?.text) return { file: version.text, type: "text/plain; charset=utf-8", name: `${name}.txt` };
  return makeFile(await call("getAgreementPdf", { path: { agreementId: version?.id ?? "" } }), name, "pdf");
}

export const receipts = "/admin/schools/:schoolId/agreements";

export async function listReceipts(request: PageRequest) {
  const { items, more } = await request.list("listAgreementReceipts");
  return makePage("receipts", request.t("receipts.title"), { receipts: items, more });
}

export async function showReceipt({ call, t }: PageRequest) {
  const { receipt, schoolName, agreement } = await call("getAgreementReceipt");
  const model = { receipt, schoolName, agreement };
  return { title: t("receipts.one", { app: receipt.appName, version: receipt.version }), view: "receipt", model };
}

export const printReceipt = async ({ call, locale, t }: PageRequest) =>
  makeFile(await call("printAgreementReceipt", { query: { language: locale } }), t("receipts.file"), "pdf");

export const loadReceipt = async ({ call, t }: PageRequest) =>
  makeFile(JSON.stringify(await call("getAgreementReceipt"), null, 2), t("receipts.file"), "json");

export const loadReceiptDocument = async (request: PageRequest): Promise<Download> =>
  loadDocument(request, (await request.call("getAgreementReceipt")).agreement);
