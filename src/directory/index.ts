export type { GroupId, PersonId, SchoolId } from "./ids.ts";
