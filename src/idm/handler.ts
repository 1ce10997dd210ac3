import type { AccessToken } from "../access/index.ts";
import { AppError } from "../platform/errors.ts";
import type { Handler } from "../platform/http/index.ts";
import type { operations } from "../../generated/openapi/idm.ts";

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
