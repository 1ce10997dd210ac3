import type { AdminSchemas } from "../../admin/index.ts";
import { makePage, attributeNames, describeReads, type PageHandler, type PageRequest } from "../frame/index.ts";

export type CatalogueApp = AdminSchemas["CatalogueApp"];

const catalogue = "/admin/schools/:schoolId/apps";
export const app = `${catalogue}/:clientId`;

export const withheldFrom = ({ attributes }: CatalogueApp) =>
  attributeNames.filter((name) => !attributes.includes(name));

/** The words for what a school grants an app. */
export function wordsOf({ t, locale }: Pick<PageRequest, "t" | "locale">) {
  const list = new Intl.ListFormat(locale, { type: "conjunction" });
  const roleName = (role: string) => t(`rolesInSentence.${role}`);
  return {
    roleName,
    oneOf: (role: string) => t(`role.${role}`),
    audience(signOn: AdminSchemas["SignOnAudience"], names: string[]): string {
      if (signOn.kind === "ROLES") return t("apps.audience.ROLES", { roles: list.format(signOn.roles.map(roleName)) });
      if (signOn.kind === "GROUPS" && names.length === 0) return t("apps.audience.noGroup");
      return t(`apps.audience.${signOn.kind}`, { groups: list.format(names) });
    },
    sync(isOn: boolean, names: string[]): string {
      if (!isOn) return t("apps.sync.off");
      if (names.length === 0) return t("apps.sync.none");
      return t("apps.sync.on", { groups: list.format(names), count: names.length });
    },
  };
}

const granted: Record<string, boolean> = { yes: true, no: false };

export async function listCatalogue(request: PageRequest) {
  const { list, query, t } = request;
  const [search, chosen] = [query("search"), query("granted")];
  const { items, more } = await list("listCatalogue", { query: { search, granted: granted[chosen] } });
  return makePage("catalogue", t("frame.pages.apps"), { search, chosen, apps: items, words: wordsOf(request), more });
}

export async function showApp(request: PageRequest) {
  const { call, path } = request;
  const [read, agreement, erasures] = await Promise.all([
    call("getCatalogueApp"),
    call("getSchoolAgreement"),
    call("listOpenErasures", { query: { school: path.schoolId, app: path.clientId } }),
  ]);
  return makePage("app", read.name, {
    app: read,
    agreement,
    words: wordsOf(request),
    withheld: withheldFrom(read),
    reads: describeReads(read.reads!, request),
    erasures: erasures[0],
  });
}

/** Asks before a grant or an agreement is withdrawn, with what the app would see differently. */
export const showWithdrawal =
  (of: "apps" | "agreement"): PageHandler =>
  async ({ call, getRecord, t }) => {
    const query = { "dry-run": true };
    const [read, { tag }, changes] = await Promise.all([
      call("getCatalogueApp"),
      of === "apps" ? getRecord("getGrant") : getRecord("getSchoolAgreement"),
      of === "apps" ? call("deleteGrant", { query }) : call("withdrawAgreement", { query }),
    ]);
    return makePage("withdrawal", t(`${of}.withdrawal.title`, { app: read.name }), { of, tag, changes: changes ?? [] });
  };
