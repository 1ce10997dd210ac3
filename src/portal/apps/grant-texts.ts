import type { AdminSchemas } from "../../admin/index.ts";
import { attributeNames, type PageRequest } from "../frame/index.ts";

export type CatalogueApp = AdminSchemas["CatalogueApp"];

/** The attributes that the app may not read. */
export const withheldFrom = ({ attributes }: CatalogueApp) =>
  attributeNames.filter((name) => !attributes.includes(name));

export function wordsOf({ t, locale }: Pick<PageRequest, "t" | "locale">) {
  const list = new Intl.ListFormat(locale, { type: "conjunction" });
  const join = (parts: string[]) => list.format(parts);

  function audience(signOn: AdminSchemas["SignOnAudience"], names: string[]): string {
    if (signOn.kind === "ROLES") return t("apps.audience.ROLES", { roles: join(signOn.roles.map(roleName)) });
    if (signOn.kind === "GROUPS" && names.length === 0) return t("apps.audience.noGroup");
    return t(`apps.audience.${signOn.kind}`, { groups: join(names) });
  }

  function sync(isOn: boolean, names: string[]): string {
    if (!isOn) return t("apps.sync.off");
    return names.length === 0 ? t("apps.sync.none") : t("apps.sync.on", { groups: join(names), count: names.length });
  }

  const roleName = (role: string) => t(`rolesInSentence.${role}`);

  const oneOf = (role: string) => t(`role.${role}`);

  return { oneOf, audience, sync, roleName };
}
