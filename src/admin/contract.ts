import type {
  Agreement,
  AppAttribute,
  MergedApp,
  Registration,
  ScopeName,
  SchoolAgreement,
  ScopeRequest,
  SignOnAudience,
  TokenEndpointAuthMethod,
  Withheld,
} from "../access/index.ts";
import type {
  DataRequest,
  GroupStatus,
  GroupType,
  HandoverState,
  Merger,
  PeopleSort,
  SortOrder,
} from "../directory/index.ts";
import type { PersonRole, PersonStatus, SignInState } from "../directory/index.ts";
import type { RetentionOrigin, RetentionStart } from "../directory/index.ts";
import type {
  GroupStep,
  ImportFormat,
  ImportMode,
  ImportPeople,
  ImportState,
  ImportStatus,
  PersonImport,
  HoldReason,
  PersonKind,
  WarningKind,
} from "../imports/index.ts";
import type { columnUses, SeparatorName, shownEncoding, UndoReason, UndoStep } from "../imports/index.ts";
import type { EnumsAgree, ParametersAgree } from "../platform/contract-types.ts";
import type { RetentionCause } from "../retention/index.ts";
import type { AccountKind, SandboxStepName } from "../sandbox/index.ts";
import type { CardRefusalReason, CardSecondStep, CardState, SecondFactor, SignInSettings } from "../accounts/index.ts";
import type { SigningKey } from "../sign-on/index.ts";
import type { CardLanguage } from "./card-pdf/texts.ts";
import type { CardSkipReason } from "./card-holders.ts";
import type { FigureStep, JobRun, Metric, SignOnStep } from "../traffic/index.ts";
import type { ClassTeacherProposal, StaffRoleName } from "../staff/index.ts";
import type {
  AccountRefusal,
  AuthMethod,
  ConnectionState,
  ConnectionUpdate,
  FailureCode,
  Link as UpstreamLink,
  Normalisation,
  Profile,
  RuleField,
} from "../upstream/index.ts";
import type { DeliveryState, Endpoint, EventType } from "../webhooks/index.ts";
import type { components, operations } from "../../generated/openapi/admin.ts";
import type { IdMove, NewIdMove, PersonAttribute } from "../access/index.ts";
import type { PersonSession } from "../sign-on/index.ts";
import type { AppViewResource } from "./app-views.ts";
import type { JobState } from "./operation.ts";

export const parameters: ParametersAgree<
  operations,
  {
    applyImport: "in-background";
    compareImport: "school";
    createImport:
      | "school"
      | "format"
      | "mode"
      | "people"
      | "file-name"
      | "school-year"
      | "carry-over"
      | "choose-columns"
      | "in-background";
    explainSignIn: "app";
    getAppAnswer: "path";
    getAppView: "resource" | "id" | "show-deleted";
    getFigures: "metric" | "step" | "school" | "app" | "from" | "until";
    getToday: "school";
    joinImportGroups: "school";
    putImportColumns: "in-background";
    listAgreementReceipts: "app";
    listApiRequests: "request-id" | "only-refused";
    listApps: "search" | "order";
    listAudit: "school" | "person" | "actor" | "app" | "action" | "from" | "until" | "sort";
    listCatalogue: "search" | "granted";
    listClassSignIns: "search";
    listDataRequests: "school" | "person" | "state";
    listDeliveries: "state";
    listEndpoints: "app";
    listGrants: "school" | "app";
    listOpenErasures: "school" | "app";
    listUpstreamRefusals: "code";
    listGroups: "school" | "show-deleted" | "search" | "order";
    listImportChanges: "school" | "loses-members" | "search";
    listImportGroupMoves: "school";
    listImportLeavers: "school" | "kept";
    listImportLookAlikes: "school";
    listImportPeople: "school" | "kind" | "leaves-group" | "search";
    listImports: "school" | "state" | "waiting";
    listImportUndoEntries: "school" | "kept";
    listLoginCards: "person";
    listMembers: "status" | "role" | "has-login" | "sign-in" | "search";
    listPeople:
      "school" | "group" | "status" | "role" | "has-login" | "sign-in" | "left-days" | "search" | "sort" | "order";
    listReceivingSchools: "search";
    listSandboxes: "app";
    listSchools: "search" | "order";
    getStateRetention: "state";
    listRetentionPeople: "days";
    previewStateRetention: "state";
    putStateRetention: "state";
    listScopeRequests: "app" | "state";
    listSignOnAttempts: "request-id" | "outcome";
    listStaffPeople: "status" | "search";
    listUpstreamConnections: "school" | "failing" | "secret-expiring";
    listStaffRoles: "school" | "person" | "app" | "role";
    previewImport: "school";
    previewImportUndo: "school";
    takeCredentialBatch: "language" | "format";
    printAgreementReceipt: "language";
    printLoginCards: "language";
    rotateSigningKeys: "force";
    setImportGroupMoves: "school";
    undoImport: "in-background";
  }
> = true;

export const enums: EnumsAgree<
  components["schemas"],
  {
    AgreementState: Agreement["state"];
    AppAttribute: AppAttribute;
    AppScope: ScopeName;
    AppType: Registration["type"];
    CardLanguage: CardLanguage;
    CardRefusalReason: CardRefusalReason;
    CardSecondStep: CardSecondStep;
    CardSkipReason: CardSkipReason;
    CardState: CardState;
    CredentialBatchState: "PREPARING" | "READY" | "HANDED_OUT";
    CredentialFormat: "pdf" | "csv";
    ClassTeacherProposalState: ClassTeacherProposal["state"];
    DataRequestAsker: DataRequest["askedBy"];
    DataRequestExtensionReason: NonNullable<DataRequest["extension"]>;
    DataRequestOutcome: NonNullable<DataRequest["outcome"]>;
    DataRequestState: "OPEN" | "CLOSED";
    DeliveryState: DeliveryState;
    ColumnUse: (typeof columnUses)[number] | "IGNORED";
    EndpointState: Endpoint["state"];
    EndpointStateReason: NonNullable<Endpoint["reason"]> | "none";
    FigureMetric: Metric;
    FigureStep: Lowercase<FigureStep>;
    GroupStatus: GroupStatus;
    GroupType: GroupType;
    IdMoveState: IdMove["state"];
    IdTokenAlgorithm: Registration["idTokenAlgorithm"];
    PasswordKind: SignInSettings["passwordKind"];
    HandoverState: HandoverState;
    MergedAppOutcome: MergedApp["outcome"];
    SchoolMergerState: Merger["state"];
    ImportFormat: ImportFormat;
    ImportGroupStep: GroupStep;
    ImportMode: ImportMode;
    ImportPeople: ImportPeople;
    ImportHoldReason: HoldReason;
    ImportWarningKind: WarningKind;
    ImportPersonKind: PersonKind;
    ImportPhase: NonNullable<ImportStatus["progress"]>["phase"];
    ImportSchoolState: ImportStatus["schools"][number]["state"];
    ImportState: ImportState;
    ImportUndoKind: "PERSON" | "GROUP";
    ImportUndoReason: UndoReason;
    ImportUndoStep: UndoStep;
    JobOutcome: JobRun["outcome"];
    JobState: JobState;
    PersonImportChange: PersonImport["change"];
    PersonStatus: PersonStatus;
    ProcessingKind: "SERVICE" | "APP";
    ProcessingRecipientKind: "OPERATOR" | "PROVIDER" | "SUBPROCESSOR";
    RetentionCause: RetentionCause;
    RetentionOrigin: RetentionOrigin;
    RetentionStart: RetentionStart;
    SandboxAccountKind: AccountKind;
    SandboxStepName: SandboxStepName;
    RoleOfAll: PersonRole | "COLUMN";
    SchoolRole: PersonRole;
    SignInState: SignInState;
    SchoolAgreementState: SchoolAgreement["state"];
    ScopeRequestState: ScopeRequest["state"];
    SecondFactorKind: SecondFactor["kind"];
    SubjectType: Registration["subjectType"];
    OwnSubjectType: NewIdMove["subjectType"];
    SchulconnexSpelling: Registration["schulconnexSpelling"];
    TokenEndpointAuthMethod: TokenEndpointAuthMethod;
    AppViewResource: AppViewResource;
    AuditSort: "newest" | "oldest";
    PeopleSort: PeopleSort;
    SortOrder: SortOrder;
    PersonAttribute: PersonAttribute;
    PersonSessionKind: PersonSession["kind"];
    SignInStepCode: components["schemas"]["SignInStepCode"];
    SignInStepOutcome: "PASSED" | "REFUSED" | "NOTE";
    SignOnStepOutcome: SignOnStep["outcome"];
    SigningKeyState: SigningKey["state"];
    SignOnAudienceKind: SignOnAudience["kind"];
    StaffRoleName: StaffRoleName;
    UpstreamAuthMethod: AuthMethod;
    UpstreamFailureCode: FailureCode | "NONE";
    UpstreamLinkedBy: UpstreamLink["linkedBy"];
    UpstreamNormalisation: Normalisation;
    UpstreamProfile: Profile;
    UpstreamRefusalCode: AccountRefusal;
    UpstreamRuleField: RuleField;
    UpstreamState: ConnectionState;
    UpstreamStateChange: NonNullable<ConnectionUpdate["state"]>;
    UserNameRule: SignInSettings["userNameRule"];
    TextEncoding: ReturnType<typeof shownEncoding>;
    FieldSeparator: SeparatorName;
    WebhookEventType: EventType;
    WithheldReason: Withheld["reason"];
  }
> = true;
