import type { AdminHandler, OperationId } from "./handler.ts";

const appAnswers = () => import("./app-answers.ts");
const appViews = () => import("./app-views.ts");
const apps = () => import("./apps.ts");
const catalogue = () => import("./catalogue.ts");
const deliveries = () => import("./deliveries.ts");
const endpoints = () => import("./endpoints.ts");
const listeners = () => import("./listeners.ts");
const grants = () => import("./grants.ts");
const audit = () => import("./audit.ts");
const cards = () => import("./cards.ts");
const printCards = () => import("./print-cards.ts");
const createCards = () => import("./create-cards.ts");
const cardSettings = () => import("./card-settings.ts");
const explanations = () => import("./explanations.ts");
const traffic = () => import("./traffic.ts");
const figures = () => import("./figures.ts");
const operation = () => import("./operation.ts");
const groups = () => import("./groups.ts");
const imports = () => import("./imports.ts");
const importLists = () => import("./import-lists.ts");
const importSteps = () => import("./import-steps.ts");
const logins = () => import("./logins.ts");
const members = () => import("./members.ts");
const people = () => import("./people.ts");
const personData = () => import("./person-data.ts");
const personImports = () => import("./person-imports.ts");
const personSchools = () => import("./person-schools.ts");
const schools = () => import("./schools.ts");
const schoolLogo = () => import("./school-logo.ts");
const secondFactors = () => import("./second-factors.ts");
const sessions = () => import("./sessions.ts");
const passwordRequests = () => import("./password-requests.ts");
const passwords = () => import("./passwords.ts");
const signInSettings = () => import("./sign-in-settings.ts");
const sandboxes = () => import("./sandboxes.ts");
const scopeRequests = () => import("./scope-requests.ts");
const staff = () => import("./staff.ts");
const staffPeople = () => import("./staff-people.ts");
const today = () => import("./today.ts");

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
