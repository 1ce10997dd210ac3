import { describeDisclosures, nameOf, unwrapPage, type PageRequest, type PageView } from "../frame/index.ts";
import { addressOf, readPerson } from "./record.ts";

const most = 1000;

export async function showDisclosures(request: PageRequest): Promise<PageView> {
  const { api, t, path, times } = request;
  const { record } = await readPerson(request);
  const params = { path, query: { limit: most } };
  const { items } = await unwrapPage(api.GET("/admin/v1/people/{personId}/disclosures", { params }));
  const model = {
    base: addressOf(request),
    fullName: nameOf(record, request),
    recordedSince: items[0]?.recordedSince ?? null,
    apps: describeDisclosures(items, { t, times }),
  };
  return { title: t("disclosures.title"), view: "disclosures", model };
}
