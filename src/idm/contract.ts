import type { GroupStatus, PersonRole, PersonStatus } from "../directory/index.ts";
import type { AppEventAction, AppEventType, DeleteReason } from "../events/index.ts";
import type { EnumsAgree, Takes } from "../platform/contract-types.ts";
import type { components, operations } from "../../generated/openapi/idm.ts";

const page = { limit: true, cursor: true } as const;

/** What the handlers read of a request. */
export const takes: Takes<operations> = {
  getGroup: { id: true },
  getPerson: { id: true },
  getSchool: { id: true },
  getUser: { id: true },
  listChanges: { after: true, limit: true },
  listSchoolGroups: { id: true, ...page, "show-deleted": true },
  listSchoolPeople: { id: true, ...page, "show-deleted": true },
  listSchoolUsers: { id: true, ...page },
  listSchools: page,
};

export const enums: EnumsAgree<
  components["schemas"],
  {
    ChangeReason: DeleteReason;
    ChangeType: AppEventType;
    EventAction: AppEventAction;
    GroupStatus: GroupStatus;
    /** Schools sync no people with the role OTHER. */
    PersonRole: Exclude<PersonRole, "OTHER">;
    UserRole: PersonRole;
    UserStatus: PersonStatus;
  }
> = {
  ChangeReason: true,
  ChangeType: true,
  EventAction: true,
  GroupStatus: true,
  PersonRole: true,
  UserRole: true,
  UserStatus: true,
};
