import { unwrapPage, type PageView, type PageRequest } from "../frame/index.ts";
import { listAddress, type Group } from "./group-record.ts";

/** More than any school has. */
const most = 1000;
const kinds = ["KLASSE", "KURS", "SONSTIG", "DELETED"] as const;
type Kind = (typeof kinds)[number];

const kindOf = ({ status, type }: Group): Kind => (status === "DELETED" ? "DELETED" : type);

export async function listClasses(request: PageRequest): Promise<PageView> {
  const { api, t, path, query } = request;
  const search = query("search");
  const asked = { school: path.schoolId, limit: most, "show-deleted": true, ...(search !== "" && { search }) };
  const counted = { limit: most, ...(search !== "" && { search }) };
  const [{ items }, signIns] = await Promise.all([
    unwrapPage(api.GET("/admin/v1/groups", { params: { query: asked } })),
    unwrapPage(api.GET("/admin/v1/schools/{schoolId}/class-sign-ins", { params: { path, query: counted } })),
  ]);
  const found = new Map(kinds.map((kind) => [kind, items.filter((group) => kindOf(group) === kind)]));
  const wanted = kinds.find((kind) => kind === query("kind"));
  const kind = wanted ?? kinds.find((one) => found.get(one)?.length !== 0) ?? "KLASSE";
  const tabs = kinds
    .map((one) => ({ kind: one, count: found.get(one)?.length ?? 0 }))
    .filter((tab) => tab.count > 0 || tab.kind === kind);
  const model = {
    base: listAddress(request),
    groups: found.get(kind) ?? [],
    classes: signIns.items,
    kind,
    tabs,
    search,
  };
  const mayGive = request.may("createCredentialBatch");
  const ofCredentials = { mayGive, credentials: `/admin/schools/${path.schoolId}/credentials` };
  const view = {
    ...model,
    isEmpty: items.length === 0 && search === "",
    mayChange: request.may("createGroup"),
    ...ofCredentials,
  };
  return { title: t("frame.pages.classes"), view: "classes", model: view };
}
