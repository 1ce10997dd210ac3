import type { AdminSchemas } from "../../admin/index.ts";
import { attributeNames, ifMatch, postAndRedirect, unwrap, unwrapPage, unwrapRecord } from "../frame/index.ts";
import type { Download, PageRequest, PageView, Redirect } from "../frame/index.ts";
import { addressOf, readApp } from "./app.ts";

type SchoolAgreement = AdminSchemas["SchoolAgreement"];
type Attribute = AdminSchemas["AppAttribute"];

export const route = "/admin/v1/schools/{schoolId}/apps/{clientId}/agreement";
const withheldRoute = "/admin/v1/schools/{schoolId}/apps/{clientId}/withheld-attributes";

export const agreementAddress = (request: PageRequest): string => `${addressOf(request)}/agreement`;

/** The attributes of an app as a school decides on them. What the tag of the agreement covers, and nothing else. */
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

/**
 * The attributes that are switched off: whose boxes are not ticked. What a version requires that the school has not
 * agreed to has no box, and stays as it is until the school agrees.
 */
function readWithheld({ typed, field }: PageRequest, agreement: SchoolAgreement): Attribute[] {
  const given = typed["given"] ?? [];
  const accepts = field("act") === "accept";
  return describeAttributes(agreement)
    .filter(({ name, isRequired, isOff }) => (isRequired ? isOff && !accepts : !given.includes(name)))
    .map(({ name }) => name);
}

const readBoth = async (request: PageRequest) => {
  const { api, path } = request;
  const [app, { record: agreement, tag }] = await Promise.all([
    readApp(request),
    unwrapRecord(api.GET(route, { params: { path } })),
  ]);
  return { app, agreement, tag };
};

export async function showAgreement(request: PageRequest): Promise<PageView> {
  const { api, path, t, typed } = request;
  const { app, agreement, tag } = await readBoth(request);
  const query = { app: path.clientId, limit: 50, ...request.cursor };
  const { items, more } = await unwrapPage(
    api.GET("/admin/v1/schools/{schoolId}/agreement-receipts", { params: { path, query } }),
  );
  const isTyped = Object.keys(typed).length > 0;
  const off = isTyped ? readWithheld(request, agreement) : null;
  const model = {
    app,
    agreement,
    tag,
    attributes: describeAttributes(agreement).map((one) => ({
      ...one,
      isOff: off?.includes(one.name) ?? one.isOff,
    })),
    scopes: describeScopes(agreement),
    mayChange: request.may("acceptAgreement"),
    address: agreementAddress(request),
    appAddress: addressOf(request),
    receipts: items,
    receiptsAddress: `/admin/schools/${path.schoolId}/agreements`,
    more: more(agreementAddress(request)),
  };
  return { title: t("agreement.title", { app: app.name }), view: "agreement", model };
}

/** Shows what the app would see differently, then confirms it or goes back to the form. */
export async function changeAgreement(request: PageRequest): Promise<PageView | Redirect> {
  const { field } = request;
  if (field("step") === "edit") return showAgreement(request);
  const { app, agreement } = await readBoth(request);
  const withheld = readWithheld(request, agreement);
  const accepts = field("act") === "accept";
  const call = (isDry: boolean) => {
    const params = { path: request.path, header: ifMatch(request), query: { "dry-run": isDry } };
    return accepts
      ? request.api.PUT(route, { params, body: { agreementId: field("agreementId"), withheld } })
      : request.api.PUT(withheldRoute, { params, body: { attributes: withheld } });
  };
  if (field("step") === "confirm") {
    await unwrap(call(false));
    return { to: agreementAddress(request), done: accepts ? "agreed" : "attributesSet" };
  }
  const model = {
    changes: (await unwrap(call(true))) ?? [],
    accepts,
    agreementId: field("agreementId"),
    version: agreement.current?.version ?? "",
    given: agreement.attributes.filter((name) => !withheld.includes(name)),
    withheld,
    tag: field("tag"),
    address: agreementAddress(request),
  };
  return { title: request.t("agreement.preview.title", { app: app.name }), view: "agreement-preview", model };
}

export async function showAgreementWithdrawal(request: PageRequest): Promise<PageView> {
  const { api, path, t } = request;
  const [app, { tag }, changes] = await Promise.all([
    readApp(request),
    unwrapRecord(api.GET(route, { params: { path } })),
    unwrap(api.DELETE(route, { params: { path, query: { "dry-run": true } } })),
  ]);
  return {
    title: t("agreement.withdrawal.title", { app: app.name }),
    view: "agreement-withdrawal",
    model: { tag, changes: changes ?? [], address: agreementAddress(request) },
  };
}

export const withdrawAgreement = postAndRedirect(
  "agreementWithdrawn",
  agreementAddress,
  (request) => request.api.DELETE(route, { params: { path: request.path, header: ifMatch(request) } }),
  "agreement_not_in_force",
);

export async function loadAgreement(request: PageRequest): Promise<Download> {
  const { current } = await unwrap(request.api.GET(route, { params: { path: request.path } }));
  return loadDocument(request, current ?? null);
}

/** The document of a version: its PDF, or its text. */
export async function loadDocument(
  { api, t }: PageRequest,
  agreement: Pick<AdminSchemas["Agreement"], "id" | "text" | "version"> | null,
): Promise<Download> {
  const name = `${t("agreement.file")}-${(agreement?.version ?? "").replace(/[^\w.-]+/g, "_")}`;
  if (agreement?.text) return { file: agreement.text, type: "text/plain; charset=utf-8", name: `${name}.txt` };
  const path = { agreementId: agreement?.id ?? "" };
  const pdf = await unwrap(
    api.GET("/admin/v1/agreements/{agreementId}/pdf", { params: { path }, parseAs: "arrayBuffer" }),
  );
  return { file: Buffer.from(pdf as unknown as ArrayBuffer), type: "application/pdf", name: `${name}.pdf` };
}
