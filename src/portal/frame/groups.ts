import type { AdminSchemas } from "../../admin/index.ts";
import type { PageRequest } from "./page-request.ts";
import { unwrap } from "./refused.ts";

type Group = AdminSchemas["AdminGroup"];

/** More than any school has. */
const most = 1000;

/** The classes and other groups of the page's school. */
export const listGroups = ({ api, path }: PageRequest): Promise<Group[]> =>
  unwrap(api.GET("/admin/v1/groups", { params: { query: { school: path.schoolId, limit: most } } }));

export const onlyClasses = (groups: readonly Group[]): Group[] => groups.filter(({ type }) => type === "KLASSE");
