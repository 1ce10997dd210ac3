import type { AdminSchemas } from "../../admin/index.ts";
import { valuesOf } from "../../platform/contract-types.ts";

type AttributeName = AdminSchemas["AppAttribute"];

/** The attributes that an app may be granted, in the order of the pages. */
export const attributeNames: readonly AttributeName[] = valuesOf<AttributeName>({
  PERSON_NAME: true,
  SOURCE_SYSTEM_IDENTIFIER: true,
  SCHOOL_ADDRESS: true,
  SCHOOL_LOCATION: true,
  SCHOOL_OFFICIAL_ID: true,
  SCHOOLING_LEVEL: true,
});
