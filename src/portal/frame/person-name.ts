import type { AdminSchemas } from "../../admin/index.ts";
import type { PageRequest } from "./page-request.ts";

export const nameOf = ({ name }: { name: AdminSchemas["PersonName"] }, { t }: Pick<PageRequest, "t">): string =>
  name === null ? t("frame.nameless") : `${name.firstCall} ${name.last}`;

type Told = Pick<AdminSchemas["AdminPerson"], "role" | "groups" | "username" | "sourceSystemIdentifier">;

/** Tells namesakes apart where people are picked: their groups or their role, and their user name or number. */
export function aboutOf(
  { role, groups, username, sourceSystemIdentifier }: Told,
  { t, path }: Pick<PageRequest, "t" | "path">,
): string {
  const here = groups.filter(({ schoolId, status }) => status === "ACTIVE" && schoolId === (path.schoolId ?? schoolId));
  const places = here.length > 0 && role === "STUDENT" ? here.map(({ name }) => name) : [t(`role.${role}`)];
  return [...places, username ?? sourceSystemIdentifier].filter(Boolean).join(" · ");
}
