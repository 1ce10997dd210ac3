import type { components } from "../../generated/openapi/admin.ts";

/** The records of openapi/admin.yaml by their names. */
export type AdminSchemas = components["schemas"];
