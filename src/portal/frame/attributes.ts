import type { AdminSchemas } from "../../admin/index.ts";
import { valuesOf } from "../../platform/contract-types.ts";

export type AttributeName = AdminSchemas["AppAttribute"];

/** What an app may be granted to read, in the order of the pages. */
export const attributeNames: readonly AttributeName[] = valuesOf<AttributeName>({
  PERSON_NAME: true,
  SOURCE_SYSTEM_IDENTIFIER: true,
  SCHOOL_ADDRESS: true,
  SCHOOL_LOCATION: true,
  SCHOOL_OFFICIAL_ID: true,
  SCHOOLING_LEVEL: true,
});
