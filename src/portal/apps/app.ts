import { unwrap, type PageView, type PageRequest } from "../frame/index.ts";
import { withheldFrom, wordsOf, type CatalogueApp } from "./grant-texts.ts";

export const pathOf = ({ param }: PageRequest) => ({ schoolId: param("schoolId"), clientId: param("clientId") });

export const readApp = (request: PageRequest): Promise<CatalogueApp> =>
  unwrap(
    request.api.GET("/admin/v1/schools/{schoolId}/catalogue/{clientId}", {
      params: { path: pathOf(request) },
    }),
  );

export const addressOf = (request: PageRequest): string => {
  const { schoolId, clientId } = pathOf(request);
  return `/admin/schools/${schoolId}/apps/${encodeURIComponent(clientId)}`;
};

export async function showApp(request: PageRequest): Promise<PageView> {
  const app = await readApp(request);
  const model = {
    app,
    address: addressOf(request),
    words: wordsOf(request),
    withheld: withheldFrom(app),
    mayChange: request.may("putGrant"),
  };
  return { title: app.name, view: "app", model };
}
