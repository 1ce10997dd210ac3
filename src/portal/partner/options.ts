import type { AdminSchemas } from "../../admin/index.ts";

type ScopeName = AdminSchemas["AppScope"];

export const scopeNames: readonly ScopeName[] = [
  ...(["openid", "offline_access", "profile", "school", "role", "groups"] as const),
  ...(["pseudonym", "school_name", "school_official_id"] as const),
  ...(["school_location", "school_address", "schooling_level"] as const),
  ...(["schools:read", "users:read", "groups:read", "people:read", "admin:read", "admin:write"] as const),
];

export const eventTypes = ["person", "group", "school"] as const;
