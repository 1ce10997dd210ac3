import type { AdminSchemas } from "../../admin/index.ts";
import { unwrapPage, type PageRequest } from "../frame/index.ts";

type Group = AdminSchemas["AdminGroup"];

const most = 1000;

export async function listGroups({ api, param }: PageRequest): Promise<Group[]> {
  const query = { school: param("schoolId"), limit: most };
  return (await unwrapPage(api.GET("/admin/v1/groups", { params: { query } }))).items;
}

export const onlyClasses = (groups: readonly Group[]): Group[] => groups.filter(({ type }) => type === "KLASSE");
