import {
  everything,
  joinReach,
  rolesEndedBySchools,
  rolesGivenBySchools,
  staffRoleNames,
  targetOf,
} from "../staff/index.ts";
import type { Reach, StaffRole, StaffRoleName } from "../staff/index.ts";
import { AppError } from "../platform/errors.ts";
import type { OperationId } from "./handler.ts";
import type { SetUpCaller } from "./set-up.ts";

const schools = ["OPERATOR", "DISTRICT", "SCHOOL_ADMIN"] as const;
const office = [...schools, "SECRETARY"] as const;
const seeOffice = [...office, "SUPPORT"] as const;
const classes = [...office, "CLASS_TEACHER"] as const;
const seeClasses = [...classes, "SUPPORT"] as const;
const partners = ["OPERATOR", "PARTNER"] as const;
const everybody = [...seeClasses, "PARTNER"] as const;

/** The roles that allow each operation. `Reach` of staff limits them to schools and apps. */
export const rights = {
  getMe: everybody,
  listSchools: seeClasses,
  getSchool: seeClasses,
  createSchool: ["OPERATOR"],
  updateSchool: schools,
  getProcessingRecord: [...schools, "SUPPORT"],
  getSchoolLogo: seeClasses,
  putSchoolLogo: schools,
  deleteSchoolLogo: schools,
  getSignInSettings: seeClasses,
  putSignInSettings: schools,
  getRetention: seeOffice,
  putRetention: schools,
  previewRetention: schools,
  listRetentionPeople: seeOffice,
  releaseRetention: schools,
  getServiceRetention: ["OPERATOR"],
  getStateRetention: ["OPERATOR"],
  putStateRetention: ["OPERATOR"],
  previewStateRetention: ["OPERATOR"],
  getPersonRetention: seeOffice,
  putRetentionExemption: office,
  withdrawRetentionExemption: office,
  listGroups: seeClasses,
  listClassSignIns: seeClasses,
  getGroup: seeClasses,
  createGroup: office,
  updateGroup: office,
  deleteGroup: office,
  restoreGroup: office,
  listMembers: seeClasses,
  putMembership: office,
  deleteMembership: office,
  listPeople: seeOffice,
  getPerson: seeOffice,
  createPerson: office,
  updatePerson: office,
  softDeletePerson: office,
  restorePerson: office,
  deletePerson: schools,
  movePerson: office,
  setHomeSchool: office,
  joinSchool: office,
  listReceivingSchools: seeOffice,
  listHandovers: seeOffice,
  createHandover: office,
  getHandover: seeOffice,
  acceptHandover: office,
  declineHandover: office,
  withdrawHandover: office,
  listSchoolMergers: [...schools, "SUPPORT"],
  createSchoolMerger: schools,
  withdrawSchoolMerger: schools,
  leaveSchool: office,
  signOutPerson: office,
  blockPerson: office,
  unblockPerson: office,
  getLogin: seeClasses,
  setLogin: office,
  newPassword: classes,
  requestPassword: classes,
  withdrawPasswordRequests: office,
  createGroupPasswords: classes,
  createSchoolPasswords: office,
  listUpstreamConnections: [...schools, "SUPPORT"],
  createUpstreamConnection: schools,
  getUpstreamConnection: [...schools, "SUPPORT"],
  updateUpstreamConnection: schools,
  deleteUpstreamConnection: schools,
  updateUpstreamMetadata: schools,
  previewUpstreamRule: schools,
  getUpstreamSetUp: [...schools, "SUPPORT"],
  // What a provider says of its people is not for support.
  listUpstreamLinks: schools,
  listUpstreamRefusals: schools,
  withdrawUpstreamRefusal: schools,
  setUpstreamLink: schools,
  acceptUpstreamGuests: schools,
  createSetUpLink: schools,
  listSetUpLinks: [...schools, "SUPPORT"],
  revokeSetUpLink: schools,
  listUpstreamLinksOfPerson: seeOffice,
  revokeUpstreamLink: schools,
  getWayIn: seeClasses,
  putWayIn: schools,
  setEmergencySignIn: schools,
  withdrawEmergencySignIn: schools,
  getCardSettings: seeClasses,
  putCardSettings: schools,
  releaseSignInLimits: classes,
  listAppsOfPerson: seeOffice,
  listDisclosuresOfPerson: seeOffice,
  listSecondFactors: seeOffice,
  revokeSecondFactors: schools,
  getPersonData: schools,
  listDataRequests: seeOffice,
  getDataRequest: seeOffice,
  createDataRequest: office,
  updateDataRequest: office,
  listPersonImports: seeOffice,
  listSessions: seeOffice,
  endSession: office,
  listConsents: seeOffice,
  withdrawConsent: office,
  withdrawSchoolChoice: office,
  explainSignIn: seeClasses,
  createImport: office,
  getImportColumns: seeOffice,
  putImportColumns: office,
  listColumnMappings: seeOffice,
  deleteColumnMapping: office,
  getImport: seeOffice,
  listImports: seeOffice,
  listImportFaults: seeOffice,
  listImportFaultyRows: seeOffice,
  listImportWarnings: seeOffice,
  listLoginCards: seeClasses,
  createLoginCards: classes,
  printLoginCards: classes,
  getParentLetter: seeClasses,
  putParentLetter: schools,
  createCredentialBatch: classes,
  listCredentialBatches: classes,
  getCredentialBatch: classes,
  takeCredentialBatch: classes,
  deleteCredentialBatch: classes,
  revokeLoginCards: classes,
  revokeLoginCard: classes,
  listImportChanges: seeOffice,
  listImportPeople: seeOffice,
  listImportLeavers: seeOffice,
  listImportLookAlikes: seeOffice,
  listImportGroupMoves: seeOffice,
  previewImport: seeOffice,
  joinImportGroups: office,
  setImportGroupMoves: office,
  compareImport: office,
  leaveOutImportRows: office,
  applyImport: office,
  cancelImport: office,
  previewImportUndo: seeOffice,
  listImportUndoEntries: seeOffice,
  undoImport: office,
  // Staff of schools choose in the catalogue; a registration also has addresses of the programs of others.
  listApps: partners,
  getApp: partners,
  createApp: partners,
  updateApp: partners,
  deleteApp: ["OPERATOR"],
  suspendApp: ["OPERATOR"],
  resumeApp: ["OPERATOR"],
  listSignOnAttempts: partners,
  listApiRequests: partners,
  getAppAnswer: partners,
  requestScopes: partners,
  listScopeRequests: partners,
  approveScopeRequest: ["OPERATOR"],
  refuseScopeRequest: ["OPERATOR"],
  listSandboxes: partners,
  createSandbox: partners,
  getSandbox: partners,
  deleteSandbox: partners,
  applySandboxSteps: partners,
  getIdMove: partners,
  createIdMove: partners,
  updateIdMove: partners,
  applyIdMove: partners,
  deleteIdMove: partners,
  putAppLogo: partners,
  deleteAppLogo: partners,
  rotateSecret: partners,
  endOldSecret: partners,
  listCatalogue: [...schools, "SUPPORT"],
  getCatalogueApp: [...schools, "SUPPORT"],
  listOpenErasures: [...schools, "PARTNER", "SUPPORT"],
  listGrants: [...schools, "PARTNER", "SUPPORT"],
  getGrant: [...schools, "PARTNER", "SUPPORT"],
  putGrant: schools,
  getAppView: [...schools, "PARTNER", "SUPPORT"],
  deleteGrant: schools,
  listAgreements: partners,
  putAgreementDraft: partners,
  putAgreementPdf: partners,
  deleteAgreementDraft: partners,
  publishAgreement: partners,
  getAgreementPdf: [...schools, "PARTNER", "SUPPORT"],
  getSchoolAgreement: [...schools, "SUPPORT"],
  acceptAgreement: schools,
  withdrawAgreement: schools,
  putWithheldAttributes: schools,
  listAgreementReceipts: [...schools, "SUPPORT"],
  getAgreementReceipt: [...schools, "SUPPORT"],
  printAgreementReceipt: [...schools, "SUPPORT"],
  listEndpoints: partners,
  createEndpoint: partners,
  getEndpoint: partners,
  updateEndpoint: partners,
  deleteEndpoint: partners,
  rotateEndpointSecret: partners,
  testEndpoint: partners,
  createListener: partners,
  takeDeliveries: partners,
  recordAttempts: partners,
  replayDeliveries: partners,
  getEndpointFigures: partners,
  listDeliveries: partners,
  getDelivery: partners,
  redeliver: partners,
  redeliverFailed: partners,
  getToday: [...seeOffice, "PARTNER"],
  listStaffRoles: [...schools, "SUPPORT"],
  giveStaffRole: schools,
  listProposedTeachers: [...schools, "SUPPORT"],
  giveClassTeacherRoles: schools,
  withdrawStaffRole: schools,
  listStaffPeople: ["OPERATOR"],
  createStaffPerson: ["OPERATOR"],
  getFigures: [...schools, "PARTNER", "SUPPORT"],
  getHealth: ["OPERATOR"],
  listSigningKeys: ["OPERATOR"],
  rotateSigningKeys: ["OPERATOR"],
  listAudit: [...schools, "PARTNER", "SUPPORT"],
} as const satisfies Record<OperationId, readonly StaffRoleName[]>;

/** Operations that everybody may call about themselves, without a role. */
export const ownRights: ReadonlySet<OperationId> = new Set<OperationId>([
  ...(["getMe", "getLogin", "listAppsOfPerson", "listSessions", "endSession", "listConsents"] as const),
  "withdrawConsent",
  "withdrawSchoolChoice",
  "signOutPerson",
  "listDisclosuresOfPerson",
  "listUpstreamLinksOfPerson",
  "revokeUpstreamLink",
]);

/** What the IT contact of a school does with a set-up link, at its connection only. */
export const setUpRights: ReadonlySet<OperationId> = new Set<OperationId>([
  "getUpstreamConnection",
  "updateUpstreamConnection",
  "updateUpstreamMetadata",
  "previewUpstreamRule",
  "getUpstreamSetUp",
]);

type Allowed = { reach: Reach; role: StaffRoleName | undefined };

const isAllowed = (role: StaffRoleName, operation: OperationId): boolean =>
  (rights[operation] as readonly StaffRoleName[]).includes(role);

export const roleForbids = (message: string): AppError => new AppError("forbidden", "role_forbids", message);

/**
 * Returns the reach of the roles that allow an operation, and the first of these roles. `isOwn`: the caller asks about
 * themselves, so the reach does not matter.
 *
 * Errors: forbidden role_forbids if no role allows the operation.
 */
export function allow(roles: readonly StaffRole[], operation: OperationId, isOwn: boolean): Allowed {
  const allowing = roles.filter(({ role }) => isAllowed(role, operation));
  const [first] = allowing;
  if (isOwn && ownRights.has(operation)) return { reach: everything, role: first?.role };
  if (first === undefined) throw roleForbids("None of your staff roles allows this operation.");
  return { reach: joinReach(allowing), role: first.role };
}

/** The same for the IT contact with a set-up link, who has no role. */
export function allowSetUp({ schoolId }: SetUpCaller, operation: OperationId): Allowed {
  if (!setUpRights.has(operation)) throw roleForbids("A set-up link does not allow this.");
  return { reach: { ...everything, all: false, schoolIds: new Set([schoolId]) }, role: undefined };
}

type HeldRole = { role: StaffRoleName; schoolIds: readonly string[]; clientIds: readonly string[] };

const mayCall = (roles: readonly HeldRole[], operation: OperationId, schoolId?: string): boolean =>
  roles.some(
    ({ role, schoolIds }) =>
      isAllowed(role, operation) &&
      (schoolId === undefined || targetOf(role) === "service" || schoolIds.includes(schoolId)),
  );

/** What somebody may do, so that a page offers only what the admin API allows. */
export type Permissions = {
  may(operation: OperationId, schoolId?: string): boolean;
  reachesAll: boolean;
  isPartner: boolean;
  /** The apps that a partner looks after; null for an operator, who looks after all. */
  ownApps: readonly string[] | null;
  /** The roles that they may give: at a school, or for the whole service. */
  rolesToGive(schoolId: string | null): readonly StaffRoleName[];
  /** The roles that they may withdraw there. */
  rolesToEnd(schoolId: string | null): readonly StaffRoleName[];
};

export function permissionsOf(roles: readonly HeldRole[]): Permissions {
  const reachesAll = roles.some(({ role }) => targetOf(role) === "service");
  const giving = (schoolId: string | null): readonly StaffRoleName[] => {
    if (schoolId === null)
      return reachesAll ? staffRoleNames.filter((role) => !rolesGivenBySchools.includes(role)) : [];
    if (!mayCall(roles, "giveStaffRole", schoolId)) return [];
    return reachesAll ? [...rolesGivenBySchools, "SUPPORT"] : rolesGivenBySchools;
  };
  return {
    may: (operation, schoolId) => mayCall(roles, operation, schoolId),
    reachesAll,
    isPartner: roles.some(({ role }) => targetOf(role) === "apps"),
    ownApps: reachesAll ? null : roles.flatMap(({ clientIds }) => clientIds),
    rolesToGive: giving,
    rolesToEnd(schoolId) {
      if (reachesAll) return staffRoleNames;
      const given = giving(schoolId);
      return given.length === 0 ? [] : [...given, ...rolesEndedBySchools];
    },
  };
}
