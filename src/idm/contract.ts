import type { AccessReportType, ErasureCause, ErasureReason, ErasureState, IdInUse } from "../access/index.ts";
import type { GroupStatus, PersonRole, PersonStatus } from "../directory/index.ts";
import type { AppEventAction, AppEventType, DeleteReason } from "../events/index.ts";
import type { EnumsAgree, ParametersAgree } from "../platform/contract-types.ts";
import type { components, operations } from "../../generated/openapi/idm.ts";

export const parameters: ParametersAgree<
  operations,
  {
    getPerson: "show-deleted";
    listChanges: "after";
    listErasures: "state";
    listIdentifierChanges: "id";
    listSchoolGroups: "show-deleted";
    listSchoolPeople: "show-deleted";
  }
> = true;

export const enums: EnumsAgree<
  components["schemas"],
  {
    AccessReportType: AccessReportType;
    ChangeReason: DeleteReason;
    ChangeType: AppEventType;
    ErasureCause: ErasureCause;
    ErasureReason: ErasureReason;
    ErasureState: ErasureState;
    EventAction: AppEventAction;
    GroupStatus: GroupStatus;
    IdentifierInUse: IdInUse;
    /** Schools sync no people with the role OTHER. */
    PersonRole: Exclude<PersonRole, "OTHER">;
    UserRole: PersonRole;
    UserStatus: PersonStatus;
  }
> = true;
