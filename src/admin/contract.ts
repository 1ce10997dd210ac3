import type { AppAttribute, Registration, ScopeName, ScopeRequest, SignOnAudience } from "../access/index.ts";
import type { GroupStatus, GroupType, PersonRole, PersonStatus, NameOrder, PersonOrder } from "../directory/index.ts";
import type { GroupStep, ImportFormat, ImportMode, ImportState, ImportStatus, PersonImport } from "../imports/index.ts";
import type { EnumsAgree, Takes } from "../platform/contract-types.ts";
import type { AccountKind, SandboxStepName } from "../sandbox/index.ts";
import type { CardSecondStep, SecondFactor, SignInSettings } from "../accounts/index.ts";
import type { DescribedKey } from "../sign-on/index.ts";
import type { CardLanguage } from "./card-pdf/words.ts";
import type { CardSkipReason } from "./card-holders.ts";
import type { FigureStep, JobRun, Metric, SignOnStep } from "../traffic/index.ts";
import type { StaffRoleName } from "../staff/index.ts";
import type { DeliveryState, Endpoint, EventType } from "../webhooks/index.ts";
import type { components, operations } from "../../generated/openapi/admin.ts";
import type { PersonAttribute } from "../access/index.ts";
import type { PersonSession } from "../sign-on/index.ts";
import type { AppViewResource } from "./app-views.ts";
import type { JobState } from "./operation.ts";
import type { StepCode, StepOutcome } from "./sign-in-steps.ts";

/** What the handlers read of a request. */
export const takes: Takes<operations> = {
  approveScopeRequest: { scopeRequestId: true },
  applySandboxSteps: { sandboxId: true },
  createSandbox: { clientId: true, "Idempotency-Key": true },
  deleteSandbox: { sandboxId: true, "If-Match": true },
  getSandbox: { sandboxId: true },
  listSandboxes: { app: true, limit: true, cursor: true },
  applyImport: { importId: true, "in-background": true },
  blockPerson: { personId: true },
  cancelImport: { importId: true },
  createApp: { "Idempotency-Key": true },
  createEndpoint: { "Idempotency-Key": true },
  createListener: { "Idempotency-Key": true },
  createGroup: { "Idempotency-Key": true },
  createImport: {
    school: true,
    format: true,
    mode: true,
    "file-name": true,
    "school-year": true,
    "carry-over": true,
    "in-background": true,
    "Idempotency-Key": true,
  },
  createLoginCards: { schoolId: true, "Idempotency-Key": true },
  createGroupPasswords: { groupId: true, "Idempotency-Key": true },
  createPerson: { "dry-run": true, "Idempotency-Key": true },
  createSchool: { "Idempotency-Key": true },
  createStaffPerson: { "Idempotency-Key": true },
  createSchoolPasswords: { schoolId: true, "Idempotency-Key": true },
  deleteApp: { clientId: true, "If-Match": true },
  deleteAppLogo: { clientId: true, "If-Match": true },
  deleteEndpoint: { endpointId: true, "If-Match": true },
  deleteGrant: { schoolId: true, clientId: true, "dry-run": true, "If-Match": true },
  deleteGroup: { groupId: true, "dry-run": true, "If-Match": true },
  deleteMembership: { groupId: true, personId: true, "dry-run": true, "If-Match": true },
  deleteSchoolLogo: { schoolId: true, "If-Match": true },
  deletePerson: { personId: true, "dry-run": true, "If-Match": true },
  explainSignIn: { personId: true, app: true },
  releaseSignInLimits: { personId: true },
  requestPassword: { personId: true },
  withdrawPasswordRequests: { personId: true },
  getPersonData: { personId: true },
  listAppsOfPerson: { personId: true, limit: true, cursor: true },
  listSecondFactors: { personId: true, limit: true, cursor: true },
  revokeSecondFactors: { personId: true },
  listPersonImports: { personId: true, limit: true, cursor: true },
  listSessions: { personId: true, limit: true, cursor: true },
  endSession: { personId: true, sessionId: true },
  listConsents: { personId: true, limit: true, cursor: true },
  withdrawConsent: { personId: true, clientId: true },
  endOldSecret: { clientId: true, "If-Match": true },
  getApp: { clientId: true },
  getCardSettings: { schoolId: true },
  getCatalogueApp: { schoolId: true, clientId: true },
  getAppAnswer: { clientId: true, path: true },
  getAppView: { schoolId: true, clientId: true, resource: true, id: true, "show-deleted": true },
  getDelivery: { deliveryId: true },
  getEndpoint: { endpointId: true },
  getEndpointFigures: { endpointId: true },
  getFigures: { metric: true, step: true, school: true, app: true, from: true, until: true },
  getGrant: { schoolId: true, clientId: true },
  getGroup: { groupId: true },
  getImport: { importId: true },
  getHealth: {},
  getLogin: { personId: true },
  getMe: {},
  getPerson: { personId: true },
  getSchool: { schoolId: true },
  getSignInSettings: { schoolId: true },
  getToday: { school: true },
  giveStaffRole: { "Idempotency-Key": true },
  joinImportGroups: { importId: true, school: true },
  joinSchool: { personId: true, schoolId: true, "dry-run": true, "If-Match": true },
  leaveSchool: { personId: true, schoolId: true, "dry-run": true, "If-Match": true },
  listApiRequests: { clientId: true, "request-id": true, "only-refused": true, limit: true, cursor: true },
  listApps: { search: true, sort: true, limit: true, cursor: true },
  listAudit: {
    school: true,
    person: true,
    actor: true,
    app: true,
    action: true,
    from: true,
    until: true,
    sort: true,
    limit: true,
    cursor: true,
  },
  listCatalogue: { schoolId: true, search: true, granted: true, limit: true, cursor: true },
  listDeliveries: { endpointId: true, state: true, limit: true, cursor: true },
  listEndpoints: { app: true, limit: true, cursor: true },
  listGrants: { school: true, app: true, limit: true, cursor: true },
  listGroups: { school: true, "show-deleted": true, search: true, sort: true, limit: true, cursor: true },
  listImportChanges: { importId: true, school: true, limit: true, cursor: true },
  listImportLeavers: { importId: true, school: true, kept: true, limit: true, cursor: true },
  listImportGroupMoves: { importId: true, school: true, limit: true, cursor: true },
  listImportLookAlikes: { importId: true, school: true, limit: true, cursor: true },
  listImportFaults: { importId: true, limit: true, cursor: true },
  listImports: { school: true, state: true, limit: true, cursor: true },
  listLoginCards: { schoolId: true, person: true, limit: true, cursor: true },
  listMembers: { groupId: true, "has-login": true, search: true, limit: true, cursor: true },
  listPeople: {
    school: true,
    group: true,
    status: true,
    role: true,
    "has-login": true,
    search: true,
    sort: true,
    limit: true,
    cursor: true,
  },
  listSchools: { search: true, sort: true, limit: true, cursor: true },
  listScopeRequests: { app: true, state: true, limit: true, cursor: true },
  listSignOnAttempts: { clientId: true, limit: true, cursor: true },
  listSigningKeys: { limit: true, cursor: true },
  listStaffRoles: { school: true, person: true, app: true, role: true, limit: true, cursor: true },
  listStaffPeople: { status: true, search: true, limit: true, cursor: true },
  movePerson: { personId: true, "dry-run": true },
  newPassword: { personId: true, "Idempotency-Key": true },
  getSchoolLogo: { schoolId: true },
  putSchoolLogo: { schoolId: true, "If-Match": true },
  putAppLogo: { clientId: true, "If-Match": true },
  printLoginCards: { schoolId: true, cardPrintId: true, language: true },
  putCardSettings: { schoolId: true, "If-Match": true },
  previewImport: { importId: true, school: true },
  putGrant: { schoolId: true, clientId: true, "dry-run": true, "If-Match": true },
  putMembership: { groupId: true, personId: true, "dry-run": true, "If-Match": true },
  putSignInSettings: { schoolId: true, "If-Match": true },
  redeliver: { deliveryId: true },
  redeliverFailed: { endpointId: true },
  refuseScopeRequest: { scopeRequestId: true },
  requestScopes: { clientId: true, "Idempotency-Key": true },
  restoreGroup: { groupId: true, "dry-run": true },
  restorePerson: { personId: true, "dry-run": true },
  revokeLoginCard: { schoolId: true, loginCardId: true },
  revokeLoginCards: { schoolId: true },
  recordAttempts: { endpointId: true },
  replayDeliveries: { endpointId: true },
  rotateEndpointSecret: { endpointId: true, "Idempotency-Key": true },
  rotateSigningKeys: { force: true, "Idempotency-Key": true },
  rotateSecret: { clientId: true, "Idempotency-Key": true },
  setHomeSchool: { personId: true, "dry-run": true, "If-Match": true },
  setImportGroupMoves: { importId: true, school: true },
  setLogin: { personId: true, "If-Match": true },
  signOutPerson: { personId: true },
  softDeletePerson: { personId: true, "dry-run": true },
  takeDeliveries: { endpointId: true },
  testEndpoint: { endpointId: true, "Idempotency-Key": true },
  unblockPerson: { personId: true, "If-Match": true },
  updateApp: { clientId: true, "If-Match": true },
  updateEndpoint: { endpointId: true, "If-Match": true },
  updateGroup: { groupId: true, "dry-run": true, "If-Match": true },
  updatePerson: { personId: true, "dry-run": true, "If-Match": true },
  updateSchool: { schoolId: true, "dry-run": true, "If-Match": true },
  withdrawStaffRole: { staffRoleId: true },
};

export const enums: EnumsAgree<
  components["schemas"],
  {
    AppAttribute: AppAttribute;
    AppScope: ScopeName;
    AppType: Registration["type"];
    CardLanguage: CardLanguage;
    CardSecondStep: CardSecondStep;
    CardSkipReason: CardSkipReason;
    DeliveryState: DeliveryState;
    EndpointState: Endpoint["state"];
    FigureMetric: Metric;
    FigureStep: Lowercase<FigureStep>;
    GroupStatus: GroupStatus;
    GroupType: GroupType;
    IdTokenAlgorithm: Registration["idTokenAlgorithm"];
    PasswordKind: SignInSettings["passwordKind"];
    ImportFormat: ImportFormat;
    ImportGroupStep: GroupStep;
    ImportMode: ImportMode;
    ImportPhase: NonNullable<ImportStatus["progress"]>["phase"];
    ImportSchoolState: ImportStatus["schools"][number]["state"];
    ImportState: ImportState;
    JobOutcome: JobRun["outcome"];
    JobState: JobState;
    PersonImportChange: PersonImport["change"];
    PersonStatus: PersonStatus;
    SandboxAccountKind: AccountKind;
    SandboxStepName: SandboxStepName;
    SchoolRole: PersonRole;
    ScopeRequestState: ScopeRequest["state"];
    SecondFactorKind: SecondFactor["kind"];
    SchulconnexSpelling: Registration["schulconnexSpelling"];
    AppViewResource: AppViewResource;
    AuditOrder: "newest" | "oldest";
    NameOrder: NameOrder;
    PersonOrder: PersonOrder;
    PersonAttribute: PersonAttribute;
    PersonSessionKind: PersonSession["kind"];
    SignInStepCode: StepCode;
    SignInStepOutcome: StepOutcome;
    SignOnStepOutcome: SignOnStep["outcome"];
    SigningKeyState: DescribedKey["state"];
    SignOnAudienceKind: SignOnAudience["kind"];
    StaffRoleName: StaffRoleName;
    UserNameRule: SignInSettings["userNameRule"];
    WebhookEventType: EventType;
  }
> = {
  AppAttribute: true,
  AppScope: true,
  AppType: true,
  CardLanguage: true,
  CardSecondStep: true,
  CardSkipReason: true,
  DeliveryState: true,
  EndpointState: true,
  FigureMetric: true,
  FigureStep: true,
  GroupStatus: true,
  GroupType: true,
  IdTokenAlgorithm: true,
  PasswordKind: true,
  ImportFormat: true,
  ImportGroupStep: true,
  ImportMode: true,
  ImportPhase: true,
  ImportSchoolState: true,
  ImportState: true,
  JobOutcome: true,
  JobState: true,
  PersonImportChange: true,
  PersonStatus: true,
  SandboxAccountKind: true,
  SandboxStepName: true,
  SchoolRole: true,
  ScopeRequestState: true,
  SecondFactorKind: true,
  SchulconnexSpelling: true,
  AppViewResource: true,
  AuditOrder: true,
  NameOrder: true,
  PersonOrder: true,
  PersonAttribute: true,
  PersonSessionKind: true,
  SignInStepCode: true,
  SignInStepOutcome: true,
  SignOnStepOutcome: true,
  SigningKeyState: true,
  SignOnAudienceKind: true,
  StaffRoleName: true,
  UserNameRule: true,
  WebhookEventType: true,
};
