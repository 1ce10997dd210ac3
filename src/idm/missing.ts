import { AppError } from "../platform/errors.ts";

// What is not there and what the app may not see are answered alike.
export const schoolNotFound = () => new AppError("not_found", "school_not_found", "School not found for this app");
export const organizationNotFound = () => new AppError("not_found", "organization_not_found", "Organization not found");
export const groupNotFound = () => new AppError("not_found", "group_not_found", "Group not found");
export const userNotFound = () => new AppError("not_found", "user_not_found", "User not found");
