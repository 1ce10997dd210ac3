import type { AdminHandler, OperationId } from "./handler.ts";

type Loaders<Id extends OperationId> = { [Handled in Id]: () => Promise<AdminHandler<Handled>> };

const handlersIn = <Id extends OperationId>(
  load: () => Promise<{ [Handled in Id]: AdminHandler<Handled> }>,
  ...ids: Id[]
) => Object.fromEntries(ids.map((id) => [id, async () => (await load())[id]])) as unknown as Loaders<Id>;

/** Loads the handler of each operation; a program that calls one operation loads no others. */
const handlers: Loaders<OperationId> = {
  ...handlersIn(() => import("./app-answers.ts"), "getAppAnswer"),
  ...handlersIn(() => import("./app-views.ts"), "getAppView"),
  ...handlersIn(() => import("./apps.ts"), "listApps", "getApp"),
  ...handlersIn(
    () => import("./app-changes.ts"),
    "createApp",
    "updateApp",
    "deleteApp",
    "rotateSecret",
    "endOldSecret",
    "putAppLogo",
    "deleteAppLogo",
  ),
  ...handlersIn(() => import("./catalogue.ts"), "listCatalogue", "getCatalogueApp"),
  ...handlersIn(() => import("./deliveries.ts"), "listDeliveries", "getDelivery", "redeliver", "redeliverFailed"),
  ...handlersIn(
    () => import("./endpoints.ts"),
    "listEndpoints",
    "createEndpoint",
    "getEndpoint",
    "updateEndpoint",
    "deleteEndpoint",
    "rotateEndpointSecret",
    "testEndpoint",
  ),
  ...handlersIn(
    () => import("./listeners.ts"),
    "createListener",
    "takeDeliveries",
    "recordAttempts",
    "replayDeliveries",
  ),
  ...handlersIn(() => import("./grants.ts"), "listGrants", "getGrant", "putGrant", "deleteGrant"),
  ...handlersIn(() => import("./audit.ts"), "listAudit"),
  ...handlersIn(() => import("./class-teachers.ts"), "listProposedTeachers", "giveClassTeacherRoles"),
  ...handlersIn(() => import("./cards.ts"), "listLoginCards", "revokeLoginCards", "revokeLoginCard"),
  ...handlersIn(() => import("./print-cards.ts"), "printLoginCards"),
  ...handlersIn(() => import("./create-cards.ts"), "createLoginCards"),
  ...handlersIn(() => import("./parent-letter.ts"), "getParentLetter", "putParentLetter"),
  ...handlersIn(
    () => import("./credential-batches.ts"),
    "createCredentialBatch",
    "listCredentialBatches",
    "getCredentialBatch",
    "takeCredentialBatch",
    "deleteCredentialBatch",
  ),
  ...handlersIn(() => import("./school-settings.ts"), "getCardSettings", "putCardSettings"),
  ...handlersIn(() => import("./explanations.ts"), "explainSignIn", "releaseSignInLimits"),
  ...handlersIn(() => import("./traffic.ts"), "listSignOnAttempts", "listApiRequests", "getEndpointFigures"),
  ...handlersIn(() => import("./figures.ts"), "getFigures"),
  ...handlersIn(() => import("./operation.ts"), "getHealth", "listSigningKeys", "rotateSigningKeys"),
  ...handlersIn(
    () => import("./groups.ts"),
    "listGroups",
    "getGroup",
    "createGroup",
    "updateGroup",
    "deleteGroup",
    "restoreGroup",
  ),
  ...handlersIn(() => import("./imports.ts"), "createImport", "getImport", "listImports", "listImportFaults"),
  ...handlersIn(() => import("./import-columns.ts"), "getImportColumns", "putImportColumns", "listColumnMappings"),
  ...handlersIn(() => import("./import-rows.ts"), "listImportFaultyRows", "listImportWarnings", "leaveOutImportRows"),
  ...handlersIn(
    () => import("./import-lists.ts"),
    "listImportLeavers",
    "listImportChanges",
    "listImportLookAlikes",
    "listImportGroupMoves",
  ),
  ...handlersIn(
    () => import("./import-steps.ts"),
    "applyImport",
    "cancelImport",
    "joinImportGroups",
    "setImportGroupMoves",
    "previewImport",
  ),
  ...handlersIn(() => import("./import-undo.ts"), "previewImportUndo", "listImportUndoEntries", "undoImport"),
  ...handlersIn(
    () => import("./logins.ts"),
    "getLogin",
    "setLogin",
    "newPassword",
    "signOutPerson",
    "blockPerson",
    "unblockPerson",
  ),
  ...handlersIn(() => import("./members.ts"), "listMembers", "putMembership", "deleteMembership"),
  ...handlersIn(
    () => import("./people.ts"),
    "listPeople",
    "getPerson",
    "createPerson",
    "updatePerson",
    "softDeletePerson",
    "restorePerson",
    "deletePerson",
  ),
  ...handlersIn(() => import("./person-data.ts"), "getPersonData"),
  ...handlersIn(() => import("./person-imports.ts"), "listPersonImports"),
  ...handlersIn(() => import("./person-schools.ts"), "movePerson", "setHomeSchool", "joinSchool", "leaveSchool"),
  ...handlersIn(() => import("./schools.ts"), "listSchools", "getSchool", "createSchool", "updateSchool"),
  ...handlersIn(() => import("./school-logo.ts"), "getSchoolLogo", "putSchoolLogo", "deleteSchoolLogo"),
  ...handlersIn(() => import("./second-factors.ts"), "listSecondFactors", "revokeSecondFactors"),
  ...handlersIn(
    () => import("./sessions.ts"),
    "listAppsOfPerson",
    "listSessions",
    "endSession",
    "listConsents",
    "withdrawConsent",
  ),
  ...handlersIn(() => import("./password-requests.ts"), "requestPassword", "withdrawPasswordRequests"),
  ...handlersIn(() => import("./passwords.ts"), "createSchoolPasswords", "createGroupPasswords"),
  ...handlersIn(() => import("./school-settings.ts"), "getSignInSettings", "putSignInSettings"),
  ...handlersIn(
    () => import("./sandboxes.ts"),
    "listSandboxes",
    "createSandbox",
    "getSandbox",
    "deleteSandbox",
    "applySandboxSteps",
  ),
  ...handlersIn(
    () => import("./scope-requests.ts"),
    "requestScopes",
    "listScopeRequests",
    "approveScopeRequest",
    "refuseScopeRequest",
  ),
  ...handlersIn(() => import("./staff.ts"), "getMe", "listStaffRoles", "giveStaffRole", "withdrawStaffRole"),
  ...handlersIn(() => import("./staff-people.ts"), "listStaffPeople", "createStaffPerson"),
  ...handlersIn(() => import("./today.ts"), "getToday"),
};

export const operationIds = Object.keys(handlers) as OperationId[];

export async function loadHandlers(ids: readonly OperationId[]): Promise<Map<OperationId, AdminHandler<OperationId>>> {
  const load = async (id: OperationId) => [id, (await handlers[id]()) as unknown as AdminHandler<OperationId>] as const;
  return new Map(await Promise.all(ids.map(load)));
}
