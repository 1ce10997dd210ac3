import type { AdminHandler, OperationId } from "./handler.ts";

const appAnswers = async () => (await import("./app-answers.ts")).appAnswerHandlers;
const appViews = async () => (await import("./app-views.ts")).appViewHandlers;
const apps = async () => (await import("./apps.ts")).appHandlers;
const catalogue = async () => (await import("./catalogue.ts")).catalogueHandlers;
const deliveries = async () => (await import("./deliveries.ts")).deliveryHandlers;
const endpoints = async () => (await import("./endpoints.ts")).endpointHandlers;
const listeners = async () => (await import("./listeners.ts")).listenerHandlers;
const grants = async () => (await import("./grants.ts")).grantHandlers;
const audit = async () => (await import("./audit.ts")).auditHandlers;
const cards = async () => (await import("./cards.ts")).cardHandlers;
const printCards = async () => (await import("./print-cards.ts")).printCardHandlers;
const createCards = async () => (await import("./create-cards.ts")).createCardHandlers;
const cardSettings = async () => (await import("./card-settings.ts")).cardSettingsHandlers;
const explanations = async () => (await import("./explanations.ts")).explanationHandlers;
const traffic = async () => (await import("./traffic.ts")).trafficHandlers;
const figures = async () => (await import("./figures.ts")).figureHandlers;
const operation = async () => (await import("./operation.ts")).operationHandlers;
const groups = async () => (await import("./groups.ts")).groupHandlers;
const imports = async () => (await import("./imports.ts")).importHandlers;
const importLists = async () => (await import("./import-lists.ts")).importListHandlers;
const importSteps = async () => (await import("./import-steps.ts")).importStepHandlers;
const logins = async () => (await import("./logins.ts")).loginHandlers;
const members = async () => (await import("./members.ts")).memberHandlers;
const people = async () => (await import("./people.ts")).peopleHandlers;
const personData = async () => (await import("./person-data.ts")).personDataHandlers;
const personImports = async () => (await import("./person-imports.ts")).personImportHandlers;
const personSchools = async () => (await import("./person-schools.ts")).personSchoolHandlers;
const schools = async () => (await import("./schools.ts")).schoolHandlers;
const schoolLogo = async () => (await import("./school-logo.ts")).schoolLogoHandlers;
const secondFactors = async () => (await import("./second-factors.ts")).secondFactorHandlers;
const sessions = async () => (await import("./sessions.ts")).sessionHandlers;
const passwordRequests = async () => (await import("./password-requests.ts")).passwordRequestHandlers;
const passwords = async () => (await import("./passwords.ts")).passwordHandlers;
const signInSettings = async () => (await import("./sign-in-settings.ts")).signInSettingsHandlers;
const sandboxes = async () => (await import("./sandboxes.ts")).sandboxHandlers;
const scopeRequests = async () => (await import("./scope-requests.ts")).scopeRequestHandlers;
const staff = async () => (await import("./staff.ts")).staffHandlers;
const staffPeople = async () => (await import("./staff-people.ts")).staffPeopleHandlers;
const today = async () => (await import("./today.ts")).todayHandlers;

/** Where the handler of each operation is; a program that calls one operation loads no others. */
const modules: { [Id in OperationId]: () => Promise<{ [Handled in Id]: AdminHandler<Handled> }> } = {
  getAppAnswer: appAnswers,
  getAppView: appViews,
  putAppLogo: apps,
  deleteAppLogo: apps,
  listApps: apps,
  getApp: apps,
  createApp: apps,
  updateApp: apps,
  deleteApp: apps,
  rotateSecret: apps,
  endOldSecret: apps,
  listCatalogue: catalogue,
  getCatalogueApp: catalogue,
  listDeliveries: deliveries,
  getDelivery: deliveries,
  redeliver: deliveries,
  redeliverFailed: deliveries,
  listEndpoints: endpoints,
  createEndpoint: endpoints,
  getEndpoint: endpoints,
  updateEndpoint: endpoints,
  deleteEndpoint: endpoints,
  rotateEndpointSecret: endpoints,
  testEndpoint: endpoints,
  createListener: listeners,
  takeDeliveries: listeners,
  recordAttempts: listeners,
  replayDeliveries: listeners,
  listGrants: grants,
  getGrant: grants,
  putGrant: grants,
  deleteGrant: grants,
  listAudit: audit,
  listLoginCards: cards,
  revokeLoginCards: cards,
  revokeLoginCard: cards,
  printLoginCards: printCards,
  createLoginCards: createCards,
  getCardSettings: cardSettings,
  putCardSettings: cardSettings,
  explainSignIn: explanations,
  releaseSignInLimits: explanations,
  listSignOnAttempts: traffic,
  listApiRequests: traffic,
  getEndpointFigures: traffic,
  getFigures: figures,
  getHealth: operation,
  listSigningKeys: operation,
  rotateSigningKeys: operation,
  listGroups: groups,
  getGroup: groups,
  createGroup: groups,
  updateGroup: groups,
  deleteGroup: groups,
  restoreGroup: groups,
  createImport: imports,
  getImport: imports,
  listImports: imports,
  listImportFaults: imports,
  listImportLeavers: importLists,
  listImportChanges: importLists,
  listImportLookAlikes: importLists,
  listImportGroupMoves: importLists,
  applyImport: importSteps,
  cancelImport: importSteps,
  joinImportGroups: importSteps,
  setImportGroupMoves: importSteps,
  previewImport: importSteps,
  getLogin: logins,
  setLogin: logins,
  newPassword: logins,
  signOutPerson: logins,
  blockPerson: logins,
  unblockPerson: logins,
  listMembers: members,
  putMembership: members,
  deleteMembership: members,
  listPeople: people,
  getPerson: people,
  createPerson: people,
  updatePerson: people,
  softDeletePerson: people,
  restorePerson: people,
  deletePerson: people,
  getPersonData: personData,
  listPersonImports: personImports,
  movePerson: personSchools,
  setHomeSchool: personSchools,
  joinSchool: personSchools,
  leaveSchool: personSchools,
  listSchools: schools,
  getSchool: schools,
  createSchool: schools,
  updateSchool: schools,
  getSchoolLogo: schoolLogo,
  putSchoolLogo: schoolLogo,
  deleteSchoolLogo: schoolLogo,
  listSecondFactors: secondFactors,
  revokeSecondFactors: secondFactors,
  listAppsOfPerson: sessions,
  listSessions: sessions,
  endSession: sessions,
  listConsents: sessions,
  withdrawConsent: sessions,
  requestPassword: passwordRequests,
  withdrawPasswordRequests: passwordRequests,
  createSchoolPasswords: passwords,
  createGroupPasswords: passwords,
  getSignInSettings: signInSettings,
  putSignInSettings: signInSettings,
  listSandboxes: sandboxes,
  createSandbox: sandboxes,
  getSandbox: sandboxes,
  deleteSandbox: sandboxes,
  applySandboxSteps: sandboxes,
  requestScopes: scopeRequests,
  listScopeRequests: scopeRequests,
  approveScopeRequest: scopeRequests,
  refuseScopeRequest: scopeRequests,
  getMe: staff,
  listStaffRoles: staff,
  giveStaffRole: staff,
  withdrawStaffRole: staff,
  listStaffPeople: staffPeople,
  createStaffPerson: staffPeople,
  getToday: today,
};

export const operationIds = Object.keys(modules) as OperationId[];

/** Loads the handlers of some operations. */
export async function loadHandlers(ids: readonly OperationId[]): Promise<Map<OperationId, AdminHandler<OperationId>>> {
  const load = async (id: OperationId) => (await modules[id]())[id as never] as AdminHandler<OperationId>;
  return new Map(await Promise.all(ids.map(async (id) => [id, await load(id)] as const)));
}
