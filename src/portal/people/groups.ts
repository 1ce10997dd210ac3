import type { AdminSchemas } from "../../admin/index.ts";
import { takePage, type Visit } from "../frame/index.ts";

type Group = AdminSchemas["AdminGroup"];

/** More than any school has. */
const most = 1000;

/** The groups of the school that the page is about, by name. */
export async function listGroups({ api, part }: Visit): Promise<Group[]> {
  const query = { school: part("schoolId"), limit: most };
  return (await takePage(api.GET("/admin/v1/groups", { params: { query } }))).items;
}

export const onlyClasses = (groups: readonly Group[]): Group[] => groups.filter(({ type }) => type === "KLASSE");
