import { globSync, readFileSync } from "node:fs";
import { dirname } from "node:path";
import { describe, expect, test } from "vitest";
import { auditActions } from "../../src/events/index.ts";
import { activities, dataCategories, measures, peopleCategories, periods } from "../../src/privacy/index.ts";
import { staffRoleNames } from "../../src/staff/index.ts";
import { findBundle } from "../contract/bundles.ts";
import { listTexts } from "../support/page-texts.ts";

const locales = ["de", "en"] as const;
const bundle = findBundle("admin");
type Schema = {
  enum?: unknown[];
  properties?: Record<string, Schema>;
  items?: Schema;
  $ref?: string;
  allOf?: Schema[];
};
const schemas = bundle.document.components["schemas"] as Record<string, Schema>;

/** Whether the text of a value of an enumeration is missing, or the value itself. */
const isMissing = (texts: ReadonlyMap<string, string>, key: string, value: string): boolean => {
  const text = texts.get(key) ?? texts.get(`${key}_one`);
  return text === undefined || (text === value && /_|^[A-Z]{4}/.test(value));
};

/** The enumerations of the admin API, by a record and a property that has each. */
function listEnums(schema: Schema, path: string): [path: string, values: string[]][] {
  const own = schema.enum?.filter((value): value is string => typeof value === "string") ?? [];
  return [
    ...(own.length > 0 ? [[path, own] as [string, string[]]] : []),
    ...Object.entries(schema.properties ?? {}).flatMap(([name, one]) => listEnums(one, `${path}.${name}`)),
    ...(schema.items ? listEnums(schema.items, path) : []),
    ...(schema.allOf ?? []).flatMap((one) => listEnums(one, path)),
  ];
}
const enums = Object.entries(schemas).flatMap(([name, schema]) => listEnums(schema, name));
const valuesOf = (path: string): string[] => {
  const found = enums.find(([one]) => one === path);
  if (found === undefined) throw new Error(`no enumeration ${path}`);
  return found[1];
};

/** Where pages show an enumeration: `area key`, whose texts have the values as their last part. */
const shown: Record<string, string[]> = {
  "SchoolAgreement.state": ["apps agreement.state", "apps agreement.short"],
  "AgreementDocument.type": ["partner agreement.documents"],
  "OpenAgreement.state": ["today today.openAgreements"],
  "AdminPerson.role": [
    ...["frame role", "frame rolesInSentence", "frame frame.difference.value"],
    ...["credentials roles", "imports leavers.roles"],
  ],
  "AdminPerson.status": ["frame frame.difference.value"],
  "IdMove.state": ["partner ids.states"],
  "IdMove.subjectType": ["partner ids.targets"],
  "AdminGroup.type": ["classes classes.kind", "classes classes.kinds", "frame frame.difference.value"],
  "AdminGroup.status": ["frame frame.difference.value"],
  "StaffRole.role": ["frame staffRoles", "staff staff.means"],
  "SignInSettings.userNameRule": ["settings settings.signIn.rule", "frame frame.difference.value"],
  "SignInSettings.passwordKind": ["settings settings.signIn.kind", "frame frame.difference.value"],
  "CardSettings.secondStep": ["settings settings.cards.step", "frame frame.difference.value"],
  "SkippedCard.reason": ["classes cards.reasons"],
  "CredentialBatch.state": ["credentials states"],
  "PersonConsent.scopes": ["frame scope", "account scopes"],
  "AppOfPerson.attributes": ["frame personAttribute"],
  "DisclosurePeriod.attributes": ["frame personAttribute"],
  "DisclosureAtSignIn.attributes": ["frame personAttribute"],
  "DataRequest.askedBy": ["frame frame.dataRequest.askedBy"],
  "DataRequestInput.askedBy": ["frame frame.dataRequest.askedBy"],
  "DataRequestUpdate.extension": ["frame frame.dataRequest.extended", "frame frame.dataRequest.reason"],
  "DataRequestUpdate.outcome": ["frame frame.dataRequest.outcome", "frame frame.dataRequest.choice"],
  "PersonSession.kind": ["people uses.kinds"],
  "SecondFactor.kind": ["people factors"],
  "PersonImport.change": ["people data.change"],
  "SignInStep.code": ["people steps"],
  "SignInStep.outcome": ["people signIn.outcomes"],
  "SignInStepValues.card": ["people steps.card.states"],
  "SignInStepValues.refusal": ["people steps.card.refusals"],
  "ClassTeacherProposal.state": ["frame frame.classTeachers.state"],
  "Handover.state": ["handovers states"],
  "Import.format": ["imports format"],
  "Import.mode": ["imports mode", "imports import.modes"],
  "Import.state": ["imports state"],
  "ImportColumn.use": ["imports columns.use"],
  "ImportColumns.role": ["imports columns.roles"],
  "ImportColumns.separator": ["imports columns.separators"],
  "ImportWarning.kind": ["imports warnings"],
  "ImportUndoEntry.step": ["imports undo.steps"],
  "ImportUndoEntry.reasons": ["imports undo.reasons"],
  "AdminApp.type": ["partner new.types", "frame frame.difference.value"],
  "AdminApp.attributes": ["frame attribute"],
  "AdminApp.tokenEndpointAuthMethod": ["frame frame.difference.value"],
  "AdminApp.subjectType": ["partner new.idsOf", "frame frame.difference.value"],
  "AdminApp.schulconnexSpelling": ["frame frame.difference.value"],
  "SignOnAudience.kind": [
    ...["apps apps.audience", "apps apps.form.kind", "partner schools.audience", "frame frame.difference.value"],
    "privacy record.signOn",
  ],
  "SignOnStep.outcome": ["partner signOns.outcome", "partner signOns.stepOutcome"],
  "ScopeRequest.state": ["partner scopes.state", "frame frame.difference.value"],
  "SandboxStep.step": ["partner sandbox.step"],
  "SandboxAccount.kind": ["partner sandbox.kind"],
  "WebhookEndpoint.eventTypes": ["partner endpoint.type", "frame frame.eventType"],
  "WebhookEndpoint.state": ["partner endpoint.states", "partner endpoint.make", "frame frame.difference.value"],
  "WebhookEndpoint.reason": ["partner endpoint.reason", "frame frame.difference.value"],
  "Delivery.state": ["partner delivery.states"],
  "Figures.metric": ["frame frame.figures.metric"],
  "JobRun.outcome": ["frame frame.figures.outcome"],
  "ProcessingActivity.kind": ["privacy record.kind", "privacy record.heading"],
  "RetentionLeftMonths.from": ["retention retention.start", "frame frame.difference.value"],
  "AppliedLeftMonths.origin": ["retention retention.origin"],
  "RetentionDuePerson.cause": ["retention retention.cause", "people retention.due"],
  "UpstreamConnection.profile": ["upstream profile", "upstream profileHint"],
  "UpstreamConnection.state": ["upstream state"],
  "UpstreamConnectionUpdate.state": ["upstream state"],
  "UpstreamConnection.authMethod": ["upstream access.method"],
  "UpstreamConnection.ruleField": ["upstream rule.fields"],
  "UpstreamConnection.normalisations": ["upstream normalisation"],
  "UpstreamRefusal.code": ["upstream failure", "upstream remedy"],
  "UpstreamLink.linkedBy": ["upstream linkedBy"],
  "SigningKey.state": ["operator keys.states", "frame frame.difference.value"],
};

/** Enumerations that no page writes, and names that everybody of the field writes the same. */
const unshown = [
  ...["ImportProgress.phase", "ImportSchool.state", "ImportGroupChange.step", "ImportUndoEntry.kind"],
  ...[
    "SignInExplanation.reason",
    // Named as StaffRole.role, and not at all if there was none.
    "AuditActor.role",
    "DataRequestCloser.role",
    // Two lists, and the words of an update.
    ...["DataRequest.state", "DataRequest.extension", "DataRequest.outcome"],
    // A draft has a part of the page of its own, and an attribute is switched off whatever the reason.
    "Agreement.state",
    "WithheldAttribute.reason",
    "AdminApp.idTokenAlgorithm",
    "AppPublicKey.kty",
    "AppPublicKey.use",
    "Figures.step",
    "JobRun.state",
    "ProcessingRecipient.kind",
    "ImportColumns.encoding",
    // NONE has no text; test/portal/upstream.test.ts looks for the others.
    "UpstreamConnection.lastFailure",
  ],
];

/** One word per thing in German, and what is written instead. */
const forbidden: [pattern: RegExp, instead: string][] = [
  [/Zugangskarte/, "Anmeldekarte"],
  [/zurück(zu)?hol|zurückgeholt/i, "wiederherstellen"],
  [/zurück(zu)?zieh|zurückgezogen|widerruf/i, "zurücknehmen"],
  [/Einwilligung/, "Zustimmung"],
  [/zweite[nr]? Bestätigung/i, "zweiter Faktor"],
  [/\bAufgaben?\b/, "Rolle"],
  [/Quellsystem/, "Schulverwaltungsprogramm"],
  [/Beschäftigte|Mitarbeitende|\bSonstige\b/, "weiteres Personal"],
  [/[Ll]ernende Person/, "Schülerin oder Schüler"],
];
const areasOfStaff = globSync("src/portal/*/locales/de.json")
  .map((file) => dirname(dirname(file)))
  .filter((folder) => !folder.endsWith("/home"));
const signOnPages = "src/sign-on/forms/pages";
/** Pages of the sign-on that staff alone see. */
const ofStaff = /^(second-factor|second-factors|totp|recovery-codes|passkey|set-up-needed)\./;

describe("German", () => {
  const all = [...areasOfStaff, "src/portal/home", signOnPages, "src/platform/pages"];
  const ofRecord = [activities, dataCategories, measures, peopleCategories, periods].flatMap((words) =>
    Object.entries(words).map(([key, word]) => ({ folder: "src/privacy", key, text: JSON.stringify(word) })),
  );
  const texts = [
    ...all.flatMap((folder) => [...listTexts(folder, "de")].map(([key, text]) => ({ folder, key, text }))),
    ...ofRecord,
  ];

  test.each(forbidden)("never %s, but %s", (pattern) => {
    expect(texts.filter(({ text }) => pattern.test(text)).map(({ key, text }) => `${key}: ${text}`)).toEqual([]);
  });

  test("staff are addressed as Sie, and nobody as both", () => {
    const familiar = /(?<![„\p{L}])(du|dir|dich|dein\p{L}*|euch|euer\p{L}*)(?!\p{L})/iu;
    const formal = /(?<!\p{L})(Ihnen|Ihre?[mnrs]?|[a-zß]+en Sie)(?!\p{L})/u;
    const isOfStaff = (folder: string, key: string) =>
      folder === signOnPages ? ofStaff.test(key) : folder !== "src/portal/home";
    const wrong = texts.filter(({ folder, key, text }) =>
      isOfStaff(folder, key) ? familiar.test(text) : familiar.test(text) && formal.test(text),
    );
    expect(wrong.map(({ key, text }) => `${key}: ${text}`)).toEqual([]);
  });
});

describe("every value that a page shows has a text in both languages:", () => {
  test("each enumeration of the admin API is shown, or known not to be", () => {
    const known = new Set([...Object.keys(shown), ...unshown].map((path) => valuesOf(path).join()));
    expect(enums.filter(([, values]) => !known.has(values.join())).map(([path]) => path)).toEqual([]);
  });

  test.each(Object.entries(shown))("%s", (path, places) => {
    const missing = places.flatMap((place) => {
      const [area = "", key = ""] = place.split(" ");
      return locales.flatMap((locale) => {
        const texts = new Map([...listTexts("src/portal/frame", locale), ...listTexts(`src/portal/${area}`, locale)]);
        const keysOf = (value: string) => [
          `${key}.${value.replace(":", "_")}`,
          ...["PASSED", "fix", "heading"].map((end) => `${key}.${value}.${end}`),
        ];
        return valuesOf(path)
          .filter((value) => keysOf(value).every((one) => isMissing(texts, one, value)))
          .map((value) => `${locale} ${place}.${value}`);
      });
    });
    expect(missing).toEqual([]);
  });

  test.each(locales)("audit actions, roles and the properties of changed records, in %s", (locale) => {
    const texts = listTexts("src/portal/frame", locale);
    const changed = [
      ...[
        "AdminSchool",
        "SignInSettings",
        "CardSettings",
        "ParentLetterInput",
        "AdminPerson",
        "AdminGroup",
        "AdminApp",
        "Grant",
        "RetentionPolicy",
      ],
      ...["StaffRole", "WebhookEndpoint", "ScopeRequest", "StaffPerson", "Login"],
    ];
    const propertiesOf = ({ properties = {}, allOf = [] }: Schema): string[] => [
      ...Object.keys(properties).filter((name) => name !== "id"),
      ...allOf.flatMap(propertiesOf),
    ];
    const keys = [
      ...auditActions.map((action) => `frame.action.${action}`),
      ...staffRoleNames.map((role) => `staffRoles.${role}`),
      ...changed.flatMap((name) => propertiesOf(schemas[name]!).map((one) => `frame.difference.property.${one}`)),
    ];
    expect(keys.filter((key) => isMissing(texts, key, key.replace(/.*\./, "")))).toEqual([]);
  });

  test.each(locales)("problems, in %s", (locale) => {
    // Only programs cause these: the pages have no token, and call the addresses of the contract.
    const ofPrograms = new Set([
      ...["missing_token", "invalid_token", "insufficient_scope", "wrong_context", "repeated_parameter"],
      ...["path_not_found", "not_found", "method_not_allowed", "unsupported_type", "invalid", "cursor_expired"],
      ...["organization_not_found", "user_not_found", "client_secret_refused", "webhook_listener_limit"],
      "erasure_not_found",
      ...["unavailable", "internal_error", "contract_broken", "bug", "keys_not_lost"],
    ]);
    const areas = [
      "frame",
      "people",
      "classes",
      "credentials",
      "apps",
      "imports",
      "settings",
      "staff",
      "handovers",
      "partner",
      "operator",
      "schools",
      "retention",
      "upstream",
    ];
    const texts = new Map(areas.flatMap((area) => [...listTexts(`src/portal/${area}`, locale)]));
    // OAuth and the error pages of the sign-on have no problems in the portal.
    const [ofApis = ""] = readFileSync("docs/errors.md", "utf8").split("\n## OAuth and sign-on");
    const codes = [...ofApis.matchAll(/^### `(\w+)`$/gm)].map(([, code]) => code!);
    expect(codes.filter((code) => !texts.has(`problems.${code}`) && !ofPrograms.has(code))).toEqual([]);
  });
});
