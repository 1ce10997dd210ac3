import { describeReads, unwrap, type PageView, type PageRequest } from "../frame/index.ts";
import { withheldFrom, wordsOf, type CatalogueApp } from "./grant-texts.ts";

export const readApp = ({ api, path }: PageRequest): Promise<CatalogueApp> =>
  unwrap(api.GET("/admin/v1/schools/{schoolId}/catalogue/{clientId}", { params: { path } }));

export const addressOf = ({ path }: PageRequest): string =>
  `/admin/schools/${path.schoolId}/apps/${encodeURIComponent(path.clientId)}`;

export async function showApp(request: PageRequest): Promise<PageView> {
  const { api, path } = request;
  const ofApp = { school: path.schoolId, app: path.clientId };
  const [app, agreement, erasures] = await Promise.all([
    readApp(request),
    unwrap(api.GET("/admin/v1/schools/{schoolId}/apps/{clientId}/agreement", { params: { path } })),
    unwrap(api.GET("/admin/v1/erasures", { params: { query: ofApp } })),
  ]);
  const model = {
    app,
    agreement,
    address: addressOf(request),
    words: wordsOf(request),
    withheld: withheldFrom(app),
    reads: describeReads(app.reads!, request),
    erasures: erasures[0],
    mayChange: request.may("putGrant"),
  };
  return { title: app.name, view: "app", model };
}
