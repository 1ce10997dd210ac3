import type { Registration, ScopeName, SignOnAudience } from "../access/index.ts";
import type { GroupStatus, GroupType, PersonRole, PersonStatus } from "../directory/index.ts";
import type { EnumsAgree, Takes } from "../platform/contract-types.ts";
import type { StaffRoleName } from "../staff/index.ts";
import type { DeliveryState, Endpoint, EventType } from "../webhooks/index.ts";
import type { components, operations } from "../../generated/openapi/admin.ts";

/** What the handlers read of a request. */
export const takes: Takes<operations> = {
  blockPerson: { personId: true },
  createApp: { "Idempotency-Key": true },
  createEndpoint: { "Idempotency-Key": true },
  createGroup: { "Idempotency-Key": true },
  createPerson: { "dry-run": true, "Idempotency-Key": true },
  createSchool: { "Idempotency-Key": true },
  deleteApp: { clientId: true, "If-Match": true },
  deleteEndpoint: { endpointId: true, "If-Match": true },
  deleteGrant: { schoolId: true, clientId: true, "dry-run": true, "If-Match": true },
  deleteGroup: { groupId: true, "dry-run": true, "If-Match": true },
  deleteMembership: { groupId: true, personId: true, "dry-run": true, "If-Match": true },
  deletePerson: { personId: true, "dry-run": true, "If-Match": true },
  endOldSecret: { clientId: true, "If-Match": true },
  getApp: { clientId: true },
  getDelivery: { deliveryId: true },
  getEndpoint: { endpointId: true },
  getGrant: { schoolId: true, clientId: true },
  getGroup: { groupId: true },
  getLogin: { personId: true },
  getMe: {},
  getPerson: { personId: true },
  getSchool: { schoolId: true },
  giveStaffRole: { "Idempotency-Key": true },
  joinSchool: { personId: true, schoolId: true, "dry-run": true, "If-Match": true },
  leaveSchool: { personId: true, schoolId: true, "dry-run": true, "If-Match": true },
  listApps: { search: true, limit: true, cursor: true },
  listAudit: {
    school: true,
    person: true,
    app: true,
    action: true,
    from: true,
    until: true,
    limit: true,
    cursor: true,
  },
  listDeliveries: { endpointId: true, state: true, limit: true, cursor: true },
  listEndpoints: { app: true, limit: true, cursor: true },
  listGrants: { school: true, app: true, limit: true, cursor: true },
  listGroups: { school: true, "show-deleted": true, search: true, limit: true, cursor: true },
  listMembers: { groupId: true, "has-login": true, search: true, limit: true, cursor: true },
  listPeople: { school: true, group: true, status: true, "has-login": true, search: true, limit: true, cursor: true },
  listSchools: { search: true, limit: true, cursor: true },
  listStaffRoles: { school: true, person: true, app: true, role: true, limit: true, cursor: true },
  movePerson: { personId: true, "dry-run": true },
  newPassword: { personId: true, "Idempotency-Key": true },
  putGrant: { schoolId: true, clientId: true, "dry-run": true, "If-Match": true },
  putMembership: { groupId: true, personId: true, "dry-run": true, "If-Match": true },
  redeliver: { deliveryId: true },
  redeliverFailed: { endpointId: true },
  restoreGroup: { groupId: true, "dry-run": true },
  restorePerson: { personId: true, "dry-run": true },
  rotateEndpointSecret: { endpointId: true, "Idempotency-Key": true },
  rotateSecret: { clientId: true, "Idempotency-Key": true },
  setHomeSchool: { personId: true, "dry-run": true, "If-Match": true },
  setLogin: { personId: true, "If-Match": true },
  signOutPerson: { personId: true },
  softDeletePerson: { personId: true, "dry-run": true },
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
    AppScope: ScopeName;
    AppType: Registration["type"];
    DeliveryState: DeliveryState;
    EndpointState: Endpoint["state"];
    GroupStatus: GroupStatus;
    GroupType: GroupType;
    IdTokenAlgorithm: Registration["idTokenAlgorithm"];
    PersonStatus: PersonStatus;
    SchoolRole: PersonRole;
    SchulconnexSpelling: Registration["schulconnexSpelling"];
    SignOnAudienceKind: SignOnAudience["kind"];
    StaffRoleName: StaffRoleName;
    WebhookEventType: EventType;
  }
> = {
  AppScope: true,
  AppType: true,
  DeliveryState: true,
  EndpointState: true,
  GroupStatus: true,
  GroupType: true,
  IdTokenAlgorithm: true,
  PersonStatus: true,
  SchoolRole: true,
  SchulconnexSpelling: true,
  SignOnAudienceKind: true,
  StaffRoleName: true,
  WebhookEventType: true,
};
