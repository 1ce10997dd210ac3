import type { components } from "../../generated/openapi/admin.ts";

export type AdminSchemas = components["schemas"];
