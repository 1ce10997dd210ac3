import { hash } from "node:crypto";
import { deflateSync } from "node:zlib";
import { expect, onTestFinished, test } from "vitest";
import type { ClientId } from "../../../src/access/index.ts";
import type { components } from "../../../generated/openapi/admin.ts";
import { admin as adminPath, idsOf, makeStaff, refusalOf } from "../../support/admin.ts";
import { makeMakers } from "../../support/make.ts";
import { startService } from "../../support/service.ts";
import { issueAppToken, type TestApp } from "../../support/token.ts";
import { untilWaiting } from "../../support/waiting.ts";

type Schemas = components["schemas"];
type SchoolAgreement = Schemas["SchoolAgreement"];

const service = await startService();
const demanding = await startService({ env: { AGREEMENTS: "required" } });
const operators = new Map([
  [service, await makeStaff(service, "OPERATOR")],
  [demanding, await makeStaff(demanding, "OPERATOR")],
]);

const pdf = (inside = "1 0 obj << /Type /Catalog >> endobj") => Buffer.from(`%PDF-1.7\n${inside}\n%%EOF\n`, "latin1");
const objectStream = (objects: string, type = "/ObjStm", filter = "/FlateDecode") => {
  const dictionary = `<< /Type ${type} /N 1 /First 4 /Filter ${filter} >>`;
  return `1 0 obj ${dictionary} stream\n${deflateSync(`1 0 ${objects}`).toString("latin1")}\nendstream endobj`;
};
const asFile = { "content-type": "application/octet-stream" };

/** A school, an app with names and people, and those who act for them. */
async function makeSide(of = service, scopes: Schemas["AppScope"][] = ["openid", "people:read"]) {
  const make = makeMakers(of.db, of.clock());
  const school = await make.school();
  const group = await make.group({ school });
  const name = { firstFull: "Mia", firstCall: "Mia", last: "Sommer" };
  const person = await make.person({ school, name, groups: [group] });
  const app = await make.app({ name: "Lernapp", scopes, attributes: ["PERSON_NAME", "SCHOOL_ADDRESS"] });
  const { clientId } = app;
  return {
    make,
    school,
    group,
    person,
    app,
    clientId,
    service: of,
    operator: operators.get(of)!.call,
    partner: (await makeStaff(of, "PARTNER", { clientIds: [clientId] })).call,
    admin: (await makeStaff(of, "SCHOOL_ADMIN", { schoolIds: [school] })).call,
    ofApp: `/apps/${clientId}`,
    atSchool: `/schools/${school}/apps/${clientId}/agreement`,
    withheldPath: `/schools/${school}/apps/${clientId}/withheld-attributes`,
    grantPath: `/schools/${school}/grants/${clientId}`,
    receipts: `/schools/${school}/agreement-receipts`,
  };
}
type Side = Awaited<ReturnType<typeof makeSide>>;

const needOf = (item: string) => ({ isRequired: false, purpose: { de: `Wozu: ${item}` } });
const attributesOf = (...names: string[]) => names.map((attribute) => ({ attribute, ...needOf(attribute) }));
const scopesOf = (...names: string[]) => names.map((scope) => ({ scope, ...needOf(scope) }));
const draft = (more: object = {}) => ({
  version: "2026",
  text: "§ 1 Gegenstand\n\n§ 2 Weisungen",
  deletionPeriods: { de: "30 Tage nach dem Ende der Nutzung" },
  subprocessors: [{ name: "Rechenzentrum Nord GmbH", country: "DE", purpose: "Hosting" }],
  attributes: attributesOf("PERSON_NAME", "SCHOOL_ADDRESS"),
  scopes: scopesOf("openid", "people:read"),
  ...more,
});

async function publish({ partner, ofApp }: Pick<Side, "partner" | "ofApp">, more: object = {}): Promise<string> {
  expect((await partner("PUT", `${ofApp}/agreement-draft`, { body: draft(more) })).status).toBe(204);
  const published = await partner("POST", `${ofApp}/agreement-draft/publication`);
  expect(published.status).toBe(200);
  return (published.body as Schemas["Agreement"]).id;
}

const readState = async ({ admin, atSchool }: Side) => (await admin("GET", atSchool)).body as SchoolAgreement;
const accept = ({ admin, atSchool }: Side, body: object) => admin("PUT", atSchool, { body });
const auditOf = ({ service: { db }, clientId }: Side, action: string) =>
  db.prisma.audit.findMany({ where: { clientId, action }, orderBy: { id: "asc" } });

async function readName({ service: { url, ...of }, app, person }: Side): Promise<unknown> {
  const token = await issueAppToken({ url, ...of } as typeof service, app as TestApp, ["people:read"]);
  const headers = { authorization: `Bearer ${token}` };
  const response = await fetch(`${url}/idm/ep/v1/people/${person}`, { headers });
  return response.status === 200 ? ((await response.json()) as { name: unknown }).name : response.status;
}

const fetchPdf = async (of: typeof service, path: string) => {
  const token = await issueAppToken(of, operators.get(of)!.app, ["admin:read"]);
  const response = await fetch(of.url + adminPath + path, { headers: { authorization: `Bearer ${token}` } });
  return { response, bytes: Buffer.from(await response.arrayBuffer()) };
};

test("a partner writes a draft, replaces it by a PDF, and publishes a version that never changes", async () => {
  const side = await makeSide();
  const { partner, ofApp, clientId } = side;
  const path = `${ofApp}/agreement-draft`;
  expect(refusalOf(await partner("DELETE", path))).toEqual([404, "agreement_draft_not_found"]);
  const first = await partner("PUT", path, { body: draft({ text: null }) });
  expect(refusalOf(await partner("POST", `${path}/publication`))).toEqual([409, "agreement_incomplete"]);
  const file = await partner("PUT", `${path}/pdf`, { body: pdf(), headers: asFile });
  expect([first.status, file.status]).toEqual([204, 204]);
  expect(refusalOf(await partner("PUT", path, { body: draft(), headers: { "if-match": '"other"' } }))).toEqual([
    412,
    "precondition_failed",
  ]);
  const [listed] = (await partner("GET", `${ofApp}/agreements`)).body as Schemas["Agreement"][];
  expect(listed).toMatchObject({
    clientId,
    state: "DRAFT",
    version: "2026",
    text: null,
    document: { type: "PDF", sha256: hash("sha256", pdf()), bytes: pdf().length },
    publishedAt: null,
  });
  // Purposes alone keep the file; a text replaces it.
  await partner("PUT", path, { body: draft({ text: undefined, scopes: scopesOf("openid") }) });
  expect(refusalOf(await partner("POST", `${path}/publication`))).toEqual([409, "agreement_incomplete"]);
  await partner("PUT", path, { body: draft({ text: undefined }) });
  const published = (await partner("POST", `${path}/publication`)).body as Schemas["Agreement"];
  expect(published).toMatchObject({ state: "PUBLISHED", appName: "Lernapp", document: { type: "PDF" } });
  expect(refusalOf(await partner("PUT", path, { body: draft() }))).toEqual([409, "agreement_version_taken"]);
  const { db } = service;
  const change = { where: { id: published.id }, data: { version: "2027" } };
  await expect(db.prisma.agreement.update(change)).rejects.toThrow("never changes");
  const part = { agreementId: published.id, item: "role", required: true };
  await expect(db.prisma.agreementPurpose.create({ data: part })).rejects.toThrow("never changes");
  const read = await fetchPdf(service, `/agreements/${published.id}/pdf`);
  expect(read.bytes).toEqual(pdf());
  expect(read.response.headers.get("content-disposition")).toContain("attachment");
  expect(read.response.headers.get("x-content-type-options")).toBe("nosniff");
  expect((await auditOf(side, "agreement_published")).map(({ actorRole }) => actorRole)).toEqual(["PARTNER"]);
});

test("a PDF that hides something or is none is refused", async () => {
  const { partner, ofApp } = await makeSide();
  const path = `${ofApp}/agreement-draft`;
  await partner("PUT", path, { body: draft() });
  for (const [what, body] of [
    ["encrypted", pdf("trailer << /Encrypt 5 0 R >>")],
    ["with scripts", pdf("<< /S /JavaScript /JS (app.alert(1)) >>")],
    ["with other files", pdf("<< /Type /EmbeddedFile >>")],
    ["with names in escapes", pdf("<< /S /J#61vaScript /J#53 (app.alert(1)) >>")],
    ["with actions of a page", pdf("<< /AA << /O 5 0 R >> >>")],
    ["with a form of its own", pdf("<< /X#46A 5 0 R >>")],
    ["that starts a program", pdf("<< /S/Launch>>")],
    ["that opens a page on the Web", pdf("<< /OpenAction << /S /URI /URI (https://evil.example) >> >>")],
    ["that opens one from elsewhere", pdf("<< /OpenAction 7 0 R >> 7 0 obj << /S /URI /URI (x) >> endobj")],
    ["with scripts in compressed objects", pdf(objectStream("<< /S /JavaScript >>"))],
    ["with escapes in compressed objects", pdf(objectStream("<< /S /Java#53cript >>", "/Obj#53tm"))],
    ["with unreadable objects", pdf(objectStream("<< >>", "/ObjStm", "/LZWDecode"))],
    ["with broken objects", pdf("1 0 obj << /Type /ObjStm /Filter /FlateDecode >> stream\nx endstream endobj")],
    ["with objects behind a word", pdf("<< /Type /ObjStm (endobj) /Filter /FlateDecode >> stream\nx endstream")],
    ["that ends too early", pdf().subarray(0, 20)],
    ["that is another file", Buffer.from("<html></html>")],
  ] as const) {
    const refused = await partner("PUT", `${path}/pdf`, { body, headers: asFile });
    expect([what, ...refusalOf(refused)]).toEqual([what, 400, "agreement_refused"]);
  }
  const [listed] = (await partner("GET", `${ofApp}/agreements`)).body as Schemas["Agreement"][];
  expect(listed!.document!.type).toBe("TEXT");
  for (const harmless of [
    "<< /OpenAction [3 0 R /FitH null] /Names (J#53) >>",
    "<< /OpenAction 7 0 R >>\n7 0 obj\n<< /S /GoTo /D [3 0 R /Fit] >>\nendobj",
    objectStream("<< /Type /Catalog /Pages 2 0 R >>"),
  ])
    expect((await partner("PUT", `${path}/pdf`, { body: pdf(harmless), headers: asFile })).status, harmless).toBe(204);
});

test("drafts with an item named twice are refused, and of another's app nothing is seen", async () => {
  const { partner, ofApp, admin } = await makeSide();
  const twice = draft({ scopes: scopesOf("openid", "openid") });
  expect(refusalOf(await partner("PUT", `${ofApp}/agreement-draft`, { body: twice }))).toEqual([
    400,
    "agreement_refused",
  ]);
  const other = (await makeSide()).partner;
  for (const [method, path, given] of [
    ["GET", "agreements", {}],
    ["PUT", "agreement-draft", { body: draft() }],
    ["PUT", "agreement-draft/pdf", { body: pdf(), headers: asFile }],
    ["DELETE", "agreement-draft", {}],
    ["POST", "agreement-draft/publication", {}],
  ] as const)
    expect(refusalOf(await other(method, `${ofApp}/${path}`, given)), path).toEqual([404, "app_not_found"]);
  await partner("PUT", `${ofApp}/agreement-draft`, { body: draft({ text: undefined }) });
  await partner("PUT", `${ofApp}/agreement-draft/pdf`, { body: pdf(), headers: asFile });
  const [id] = idsOf(await partner("GET", `${ofApp}/agreements`));
  const hidden = [404, "agreement_not_found"];
  expect(refusalOf(await admin("GET", `/agreements/${id}/pdf`))).toEqual(hidden);
  expect(refusalOf(await other("GET", `/agreements/${id}/pdf`))).toEqual(hidden);
  expect((await partner("DELETE", `${ofApp}/agreement-draft`)).status).toBe(204);
  expect(idsOf(await partner("GET", `${ofApp}/agreements`))).toEqual([]);
});

test("a school reads, agrees without names, and has a receipt in JSON and as PDF", async () => {
  const side = await makeSide();
  const { admin, atSchool, receipts, school, make, clientId } = side;
  expect(await readState(side)).toMatchObject({
    state: "NONE",
    isDemanded: false,
    addedScopes: [],
    withheldAttributes: [],
  });
  const agreementId = await publish(side);
  expect(await readState(side)).toMatchObject({ state: "OPEN", current: { id: agreementId, text: draft().text } });
  await make.grant({ app: clientId, school, groups: [side.group] });
  expect(await readName(side)).toMatchObject({ last: "Sommer" });

  const body = { agreementId, withheld: ["PERSON_NAME"] };
  const dry = await admin("PUT", `${atSchool}?dry-run=true`, { body });
  expect(dry.body).toMatchObject([{ clientId, people: { enter: 0, change: 1, leave: 0 } }]);
  expect((await readState(side)).state).toBe("OPEN");
  expect((await accept(side, body)).status).toBe(204);
  expect(await readName(side)).toBe(null);
  const state = await readState(side);
  expect(state).toMatchObject({
    state: "ACCEPTED",
    withheldAttributes: [{ attribute: "PERSON_NAME", reason: "SCHOOL" }],
    accepted: { version: "2026", attributes: ["SCHOOL_ADDRESS", "PERSON_NAME"], withheld: ["PERSON_NAME"] },
  });
  // The same once more is no further receipt.
  expect((await accept(side, body)).status).toBe(204);
  const listed = await admin("GET", `${receipts}?app=${clientId}`);
  expect(idsOf(listed)).toEqual([state.accepted!.id]);
  const proof = await admin("GET", `${receipts}/${state.accepted!.id}`);
  expect(proof.body).toMatchObject({
    receipt: { ...state.accepted, sha256: hash("sha256", draft().text), acceptedBy: { role: "SCHOOL_ADMIN" } },
    agreement: { id: agreementId, subprocessors: [{ country: "DE" }] },
  });
  for (const language of ["de", "en"]) {
    const path = `${receipts}/${state.accepted!.id}/pdf?language=${language}`;
    const { response, bytes } = await fetchPdf(service, path);
    expect([response.status, bytes.subarray(0, 5).toString()]).toEqual([200, "%PDF-"]);
  }
  const [line] = await auditOf(side, "agreement_accepted");
  expect(line).toMatchObject({ schoolId: school, actorRole: "SCHOOL_ADMIN", after: { state: "ACCEPTED" } });
  const unknown = "00000000-0000-4000-8000-000000000000";
  for (const path of [unknown, `${unknown}/pdf`])
    expect(refusalOf(await admin("GET", `${receipts}/${path}`))).toEqual([404, "agreement_receipt_not_found"]);
});

test("attributes are switched off and on without an agreement, but never those that it names as required", async () => {
  const side = await makeSide();
  const { admin, withheldPath, school, make, clientId } = side;
  await make.grant({ app: clientId, school, groups: [side.group] });
  const names = { body: { attributes: ["PERSON_NAME"] } };
  const dry = await admin("PUT", `${withheldPath}?dry-run=true`, names);
  expect(dry.body).toMatchObject([{ clientId, people: { change: 1 } }]);
  expect(await readName(side)).toMatchObject({ last: "Sommer" });
  const { db } = service;
  const events = () =>
    db.prisma.appEvent.findMany({ where: { clientId, action: "update" }, select: { updatedProperties: true } });
  expect((await admin("PUT", withheldPath, names)).status).toBe(204);
  expect(await readName(side)).toBe(null);
  expect((await admin("PUT", withheldPath, { body: { attributes: [] } })).status).toBe(204);
  expect(await readName(side)).toMatchObject({ last: "Sommer" });
  expect(await events()).toEqual([{ updatedProperties: ["name"] }, { updatedProperties: ["name"] }]);
  const attributes = draft().attributes.map((one) => ({ ...one, isRequired: one.attribute === "PERSON_NAME" }));
  const agreementId = await publish(side, { attributes });
  const required = [409, "attribute_required"];
  expect(refusalOf(await admin("PUT", withheldPath, names))).toEqual(required);
  expect(refusalOf(await accept(side, { agreementId, withheld: ["PERSON_NAME"] }))).toEqual(required);
  expect((await accept(side, { agreementId, withheld: ["SCHOOL_ADDRESS"] })).status).toBe(204);
  const lines = await auditOf(side, "attributes_withheld");
  const withheld = lines.map(({ detail }) => (detail as { withheld: string[] }).withheld.join());
  expect(withheld.sort()).toEqual(["", "PERSON_NAME", "SCHOOL_ADDRESS"]);
});

test("what a school may switch off is decided by the version that it agreed to, whatever a newer one requires", async () => {
  const side = await makeSide();
  const { admin, withheldPath } = side;
  const requiring = (name: string) => ({
    attributes: draft().attributes.map((one) => ({ ...one, isRequired: one.attribute === name })),
  });
  const withhold = (...attributes: string[]) => admin("PUT", withheldPath, { body: { attributes } });
  await accept(side, { agreementId: await publish(side, requiring("SCHOOL_ADDRESS")), withheld: ["PERSON_NAME"] });
  side.service.clock.forwardSeconds(1);
  const second = await publish(side, { version: "2027", ...requiring("PERSON_NAME") });
  expect((await withhold()).status).toBe(204);
  expect((await withhold("PERSON_NAME")).status).toBe(204);
  expect(refusalOf(await withhold("SCHOOL_ADDRESS"))).toEqual([409, "attribute_required"]);
  expect(refusalOf(await accept(side, { agreementId: second }))).toEqual([409, "attribute_required"]);
  expect((await accept(side, { agreementId: second, withheld: ["SCHOOL_ADDRESS"] })).status).toBe(204);
  expect(refusalOf(await withhold("PERSON_NAME"))).toEqual([409, "attribute_required"]);
});

test("a new version asks again, and until the school answers the earlier one is in force", async () => {
  const side = await makeSide(demanding);
  const { admin, receipts } = side;
  const first = await publish(side);
  await accept(side, { agreementId: first, withheld: ["SCHOOL_ADDRESS"] });
  side.service.clock.forwardSeconds(1);
  const second = await publish(side, { version: "2027" });
  expect(await readState(side)).toMatchObject({
    state: "CHANGED",
    current: { id: second },
    accepted: { agreementId: first },
  });
  expect(refusalOf(await accept(side, { agreementId: first }))).toEqual([409, "agreement_not_current"]);
  expect((await accept(side, { agreementId: second })).status).toBe(204);
  expect(await readState(side)).toMatchObject({
    state: "ACCEPTED",
    accepted: { agreementId: second, withheld: ["SCHOOL_ADDRESS"] },
  });
  const [newer, older] = (await admin("GET", receipts)).body as Schemas["AgreementReceipt"][];
  expect([newer!.replacedAt, older!.replacedAt]).toEqual([null, newer!.acceptedAt]);
  const proof = (await admin("GET", `${receipts}/${older!.id}`)).body as Schemas["AgreementProof"];
  expect(proof.agreement.version).toBe("2026");
});

test("where agreements are demanded, sync waits for one and what an app gets later for the next", async () => {
  const side = await makeSide(demanding);
  const { admin, operator, partner, grantPath, group, ofApp, clientId } = side;
  const on = { signOn: { kind: "EVERYBODY" }, sync: true, syncedGroupIds: [group] };
  const missing = [409, "agreement_missing"];
  expect(refusalOf(await admin("PUT", grantPath, { body: on }))).toEqual(missing);
  expect((await admin("PUT", grantPath, { body: { ...on, sync: false } })).status).toBe(204);
  const agreementId = await publish(side);
  expect(refusalOf(await admin("PUT", grantPath, { body: on }))).toEqual(missing);
  expect(refusalOf(await admin("PUT", `${grantPath}?dry-run=true`, { body: on }))).toEqual(missing);
  await accept(side, { agreementId });
  expect((await admin("PUT", grantPath, { body: on })).status).toBe(204);
  expect(await readName(side)).toMatchObject({ last: "Sommer" });

  const attributes = ["PERSON_NAME", "SCHOOL_ADDRESS", "SCHOOL_LOCATION"];
  const scopes = ["openid", "people:read", "schools:read"];
  expect((await operator("PATCH", ofApp, { body: { attributes, scopes } })).status).toBe(204);
  const token = await issueAppToken(demanding, side.app, ["schools:read"]);
  const readSchools = async () => {
    const headers = { authorization: `Bearer ${token}` };
    const read = (await (await fetch(`${demanding.url}/idm/ep/v1/schools`, { headers })).json()) as object[];
    return read.map((one) => ({ location: (one as { location: unknown }).location }));
  };
  const state = await readState(side);
  expect(state).toMatchObject({
    state: "CHANGED",
    addedAttributes: ["SCHOOL_LOCATION"],
    addedScopes: ["schools:read"],
  });
  expect(state.withheldAttributes).toMatchObject([{ attribute: "SCHOOL_LOCATION", reason: "NOT_AGREED" }]);
  expect(state.withheldScopes).toMatchObject([{ scope: "schools:read" }]);
  expect(await readSchools()).toEqual([]);
  expect(await readName(side)).toMatchObject({ last: "Sommer" });
  // Other settings of the grant can be changed meanwhile.
  expect((await admin("PUT", grantPath, { body: { ...on, signOn: { kind: "NOBODY" } } })).status).toBe(204);
  await accept(side, { agreementId });
  expect(await readState(side)).toMatchObject({ withheldAttributes: [], withheldScopes: [] });
  expect(await readSchools()).toEqual([{ location: { country: "DE", state: "NI" } }]);

  // What the app loses is not withheld any more; what it then gets again was agreed to.
  await operator("PATCH", ofApp, { body: { attributes: ["PERSON_NAME"] } });
  await operator("PATCH", ofApp, { body: { attributes } });
  expect(await readState(side)).toMatchObject({ withheldAttributes: [], withheldScopes: [] });

  // Approved scopes wait too.
  const asked = await partner("POST", `${ofApp}/scope-requests`, { body: { scopes: ["profile"], reason: "Names" } });
  const { id } = asked.body as { id: string };
  await operator("POST", `/scope-requests/${id}/approval`);
  expect((await readState(side)).addedScopes).toEqual(["profile"]);
  const sandboxed = await demanding.db.prisma.withheldItem.findMany({ where: { clientId } });
  expect(sandboxed.map(({ item }) => item)).toEqual(["profile"]);
});

test("a school that withdraws ends sync, keeps what is switched off and the receipt", async () => {
  const side = await makeSide(demanding);
  const { admin, atSchool, grantPath, group, receipts } = side;
  expect(refusalOf(await admin("DELETE", atSchool))).toEqual([409, "agreement_not_in_force"]);
  const agreementId = await publish(side);
  await accept(side, { agreementId, withheld: ["PERSON_NAME"] });
  const on = { signOn: { kind: "EVERYBODY" }, sync: true, syncedGroupIds: [group] };
  await admin("PUT", grantPath, { body: on });
  const dry = await admin("DELETE", `${atSchool}?dry-run=true`);
  expect(dry.body).toMatchObject([{ schools: { leave: 1 }, groups: { leave: 1 } }]);
  const tag = (await admin("GET", atSchool)).headers.get("etag")!;
  expect(refusalOf(await admin("DELETE", atSchool, { headers: { "if-match": '"old"' } }))[0]).toBe(412);
  expect((await admin("DELETE", atSchool, { headers: { "if-match": tag } })).status).toBe(204);
  expect((await admin("GET", grantPath)).body).toMatchObject({ sync: false, signOn: { kind: "EVERYBODY" } });
  expect(await readState(side)).toMatchObject({ state: "OPEN", withheldAttributes: [{ attribute: "PERSON_NAME" }] });
  const [receipt] = (await admin("GET", receipts)).body as Schemas["AgreementReceipt"][];
  expect(receipt).toMatchObject({ withdrawnBy: { role: "SCHOOL_ADMIN" } });
  const { response } = await fetchPdf(demanding, `${receipts}/${receipt!.id}/pdf`);
  expect(response.status).toBe(200);
  expect((await auditOf(side, "agreement_withdrawn")).map(({ detail }) => detail)).toMatchObject([{ endsSync: true }]);
  expect(await auditOf(side, "sync_switched_off")).toHaveLength(1);
});

test("a school has its receipts after the app is deleted; versions that nobody agreed to go", async () => {
  const side = await makeSide();
  const { admin, operator, ofApp, receipts, clientId, atSchool } = side;
  const agreementId = await publish(side);
  await accept(side, { agreementId });
  await publish(side, { version: "2027" });
  expect((await operator("DELETE", ofApp)).status).toBe(204);
  expect(refusalOf(await admin("GET", atSchool))).toEqual([404, "app_not_found"]);
  const [receipt] = (await admin("GET", receipts)).body as Schemas["AgreementReceipt"][];
  expect(receipt).toMatchObject({ appName: "Lernapp", version: "2026" });
  const kept = await service.db.prisma.agreement.findMany({ where: { clientId: clientId as ClientId } });
  expect(kept.map(({ version }) => version)).toEqual(["2026"]);
});

test.each([false, true])("the tag covers all that the school agrees to (something in force: %s)", async (isInForce) => {
  const side = await makeSide();
  const { admin, operator, atSchool, ofApp } = side;
  const agreementId = await publish(side, { scopes: scopesOf("openid", "people:read", "groups:read") });
  if (isInForce) await accept(side, { agreementId });
  const changes = [
    { scopes: ["openid"], defaultScopes: [] },
    { scopes: ["openid", "people:read", "groups:read"] },
    { attributes: ["SCHOOL_ADDRESS"] },
  ];
  for (const body of changes) {
    const headers = { "if-match": (await admin("GET", atSchool)).headers.get("etag")! };
    expect((await operator("PATCH", ofApp, { body })).status).toBe(204);
    const before = await readState(side);
    const refused = await admin("PUT", atSchool, { body: { agreementId }, headers });
    expect(refusalOf(refused)).toEqual([412, "precondition_failed"]);
    expect(await readState(side)).toEqual(before);
  }
  const read = await admin("GET", atSchool);
  const headers = { "if-match": read.headers.get("etag")! };
  expect((await admin("PUT", atSchool, { body: { agreementId }, headers })).status).toBe(204);
  const { scopes, attributes } = read.body as SchoolAgreement;
  expect((await readState(side)).accepted).toMatchObject({ scopes, attributes });
});

test("an app that gets a scope while the school agrees waits until the school has agreed to what it read", async () => {
  const side = await makeSide();
  const { admin, clientId, atSchool } = side;
  const agreementId = await publish(side);
  const headers = { "if-match": (await admin("GET", atSchool)).headers.get("etag")! };
  const holder = await service.db.pool.connect();
  onTestFinished(() => holder.release(true));
  await holder.query("BEGIN");
  await holder.query("UPDATE app SET scopes = array_append(scopes, 'groups:read') WHERE client_id = $1", [clientId]);
  const answer = admin("PUT", atSchool, { body: { agreementId }, headers });
  await untilWaiting(service.db);
  await holder.query("COMMIT");
  expect(refusalOf(await answer)).toEqual([412, "precondition_failed"]);
  expect((await readState(side)).accepted).toBeUndefined();
});
