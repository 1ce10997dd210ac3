import type {
  AccessReportType,
  AccessToken,
  ErasureCause,
  ErasureReason,
  ErasureState,
  IdInUse,
} from "../access/index.ts";
import type { GroupStatus, PersonRole, PersonStatus } from "../directory/index.ts";
import type { AppEventAction, AppEventType, DeleteReason } from "../events/index.ts";
import type { EnumsAgree, ParametersAgree } from "../platform/contract-types.ts";
import type { components, operations } from "../../generated/openapi/idm.ts";
import { AppError } from "../platform/errors.ts";
import type { Handler } from "../platform/http/index.ts";

export type IdmHandler<Id extends keyof operations> = Handler<operations[Id], AccessToken>;

/** Exact times would tell apps with ids of their own which of their people are the same. */
export const timeFor = ({ ids }: AccessToken): ((at: Date) => string) =>
  ids === "own" ? (at) => `${at.toISOString().slice(0, 16)}:00.000Z` : (at) => at.toISOString();

// Missing and hidden records get the same error.
export const schoolNotFound = () => new AppError("not_found", "school_not_found", "School not found for this app");
export const organizationNotFound = () => new AppError("not_found", "organization_not_found", "Organization not found");
export const groupNotFound = () => new AppError("not_found", "group_not_found", "Group not found");
export const erasureNotFound = () => new AppError("not_found", "erasure_not_found", "Erasure not found");
export const userNotFound = () => new AppError("not_found", "user_not_found", "User not found");

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
