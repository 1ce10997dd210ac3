import * as access from "../../access/index.ts";
import type { Agreement, AppAttribute, AppWithData, ScopeName } from "../../access/index.ts";
import { findRetention, type Retention, type SchoolId } from "../../directory/index.ts";
import { storeOf } from "../../platform/database/db.ts";
import * as privacy from "../../privacy/index.ts";
import type { Activity, DataCategory, Days, PeopleCategory, Words } from "../../privacy/index.ts";
import { presentCatalogueGrant } from "../apps/grants.ts";
import { answerRecord } from "../change.ts";
import { present, type AdminDeps, type AdminHandler, type Schemas } from "../handler.ts";
import { refuseOtherSchool } from "../reached.ts";
import { readSchool } from "../schools/schools.ts";

type ProcessingActivity = Schemas["ProcessingActivity"];

const termsOf = <Code extends string>(codes: readonly Code[], words: Readonly<Record<Code, Words>>) =>
  codes.map((code) => ({ code, text: words[code] }));

const describeData = (code: DataCategory, kept: Words) => ({ code, text: privacy.dataCategories[code], kept });

type Recipient = Schemas["ProcessingRecipient"];

const describeRecipient = (named: Pick<Recipient, "kind" | "name"> & Partial<Recipient>): Recipient => ({
  country: null,
  purpose: null,
  contact: null,
  privacyUrl: null,
  ...named,
});

const listOwn = (operator: AdminDeps["operator"], days: Days): ProcessingActivity[] =>
  Object.entries<Activity>(privacy.activities).map(([code, { name, purpose, people, data }]) =>
    present("ProcessingActivity", {
      kind: "SERVICE",
      code,
      name,
      purpose,
      purposes: [],
      people: termsOf(people, privacy.peopleCategories),
      data: data.map((category) => describeData(category, privacy.keptFor(category, days).text)),
      withheld: [],
      recipients: [
        describeRecipient({
          kind: "OPERATOR",
          name: operator.name,
          contact: operator.legalNoticeUrl,
          privacyUrl: operator.privacyUrl,
        }),
      ],
      agreement: null,
      grant: null,
      reads: null,
    }),
  );

const everybody = ["STUDENT", "TEACHER", "OTHER"] as const satisfies readonly PeopleCategory[];

const maySignIn = ({ grant }: AppWithData): boolean => grant !== null && grant.signOn.kind !== "NOBODY";
const seesGroups = ({ grant }: AppWithData): boolean => grant?.sync === true && grant.syncedGroups.length > 0;

/** The categories of people of whom the app learns anything. */
function peopleOf(app: AppWithData): PeopleCategory[] {
  const { type, scopes, grant } = app;
  const reads = (...any: ScopeName[]) => type === "CONFIDENTIAL" && any.some((scope) => scopes.includes(scope));
  const known = new Set<PeopleCategory>(app.reads.roles);
  const audience = grant?.signOn.kind === "ROLES" ? grant.signOn.roles : everybody;
  if (maySignIn(app)) audience.forEach((role) => known.add(role));
  if (seesGroups(app) && reads("people:read", "groups:read")) known.add("STUDENT").add("TEACHER");
  return everybody.filter((role) => known.has(role));
}

function dataOf(app: AppWithData, granted: readonly AppAttribute[]): DataCategory[] {
  const { grant, reads } = app;
  const signsIn = maySignIn(app);
  const learns = access.attributesOf({
    ...app,
    granted: [...granted],
    maySignIn: signsIn,
    isUser: signsIn || reads.users + reads.otherUsers > 0,
    isPerson: seesGroups(app) || reads.people + reads.otherPeople > 0,
    schools: grant?.sync === true ? [grant.schoolId] : [],
    groups: grant?.sync === true ? grant.syncedGroups : [],
  });
  const isKnown = signsIn || learns.length > 0;
  return [...(isKnown ? ["id" as const] : []), ...learns, ...(signsIn ? ["signIns" as const] : [])];
}

type InForce = { acceptedAt: Date; agreement: Agreement } | undefined;

const listRecipients = (app: AppWithData, inForce: InForce) => [
  describeRecipient({
    kind: "PROVIDER",
    name: app.provider,
    contact: app.supportAddress,
    privacyUrl: app.privacyUrl,
  }),
  ...(inForce?.agreement.subprocessors ?? []).map((one) => describeRecipient({ kind: "SUBPROCESSOR", ...one })),
];

/** What the agreement says of the items that the school gives. */
const listPurposes = ({ attributes, scopes }: Pick<Agreement, "attributes" | "scopes">, app: AppWithData) =>
  [
    ...attributes.map(({ attribute, ...need }) => ({ item: attribute, ...need })),
    ...scopes.map(({ scope, ...need }) => ({ item: scope, ...need })),
  ]
    .filter(({ item }) => [...app.attributes, ...app.scopes].some((one) => one === item))
    .map((need) => present("ProcessingPurpose", need));

/** When the provider deletes data: as it agreed with the school. */
function keptInApp(inForce: InForce, days: Days): Words {
  const { de, en } = inForce?.agreement.deletionPeriods ?? { de: null, en: null };
  const agreed = de ?? en;
  return agreed === null ? privacy.periodText("IN_APP", days) : { de: de ?? agreed, en: en ?? agreed };
}

function presentApp(app: AppWithData, inForce: InForce, days: Days): ProcessingActivity {
  const data = dataOf(app, app.attributes);
  const registered = dataOf({ ...app, scopes: app.registeredScopes }, access.appAttributes);
  const withheld = registered.filter((category) => !data.includes(category));
  return present("ProcessingActivity", {
    kind: "APP",
    code: app.clientId,
    name: { de: app.name, en: app.name },
    purpose: app.purpose,
    purposes: inForce === undefined ? [] : listPurposes(inForce.agreement, app),
    people: termsOf(peopleOf(app), privacy.peopleCategories),
    data: data.map((category) => describeData(category, keptInApp(inForce, days))),
    withheld: termsOf(withheld, privacy.dataCategories),
    recipients: listRecipients(app, inForce),
    agreement: inForce
      ? { ...inForce.agreement, sha256: inForce.agreement.document?.sha256 ?? null, acceptedAt: inForce.acceptedAt }
      : null,
    grant: app.grant && presentCatalogueGrant(app.grant),
    reads: app.reads,
  });
}

async function listApps({ db }: AdminDeps, schoolId: SchoolId, days: Days): Promise<ProcessingActivity[]> {
  const store = storeOf(db);
  const apps = await access.listAppsWithData(store, schoolId);
  const inForce = await access.listAgreementsInForce(store, schoolId);
  return apps
    .map((app) => presentApp(app, inForce.get(app.clientId), days))
    .filter(({ grant, data }) => grant !== null || data.length > 0);
}

const listPeriods = (retention: Retention) =>
  (Object.keys(privacy.retentionWords) as (keyof typeof privacy.retentionWords)[])
    .filter((code) => retention[code] > 0)
    .map((code) => ({ code, text: privacy.retentionText(code, retention[code]), reason: retention[`${code}Reason`] }));

/** Not in the audit log: the record names no person. */
export const getProcessingRecord: AdminHandler<"getProcessingRecord"> = async (deps, { schoolId, reach, origin }) => {
  const { db, operator } = deps;
  refuseOtherSchool(reach, schoolId);
  const school = await readSchool(db, schoolId);
  const retention = (await findRetention(db.pool, schoolId, deps.retentionRules.defaults))!;
  const { leftMonths, inactiveMonths, restoreDays: deletedPersonDays, auditDays } = retention;
  const days: Days = { ...deps.retention, leftMonths, inactiveMonths, deletedPersonDays, auditDays };
  const body = present("ProcessingRecord", {
    madeAt: origin.at,
    school,
    operator,
    retention: listPeriods(retention),
    activities: [...listOwn(operator, days), ...(await listApps(deps, schoolId, days))],
    measures: termsOf(Object.keys(privacy.measures) as (keyof typeof privacy.measures)[], privacy.measures),
  });
  return answerRecord(body, ["madeAt"]);
};
