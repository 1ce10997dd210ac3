import { take, type Shown, type Visit } from "../frame/index.ts";
import { withheldFrom, wordsOf, type CatalogueApp } from "./words.ts";

export const pathOf = ({ part }: Visit) => ({ schoolId: part("schoolId"), clientId: part("clientId") });

export const readApp = (visit: Visit): Promise<CatalogueApp> =>
  take(
    visit.api.GET("/admin/v1/schools/{schoolId}/catalogue/{clientId}", {
      params: { path: pathOf(visit) },
    }),
  );

/** The address of the page of an app at a school, as it can stand in a link. */
export const addressOf = (visit: Visit): string => {
  const { schoolId, clientId } = pathOf(visit);
  return `/admin/schools/${schoolId}/apps/${encodeURIComponent(clientId)}`;
};

export async function showApp(visit: Visit): Promise<Shown> {
  const app = await readApp(visit);
  const model = {
    app,
    address: addressOf(visit),
    words: wordsOf(visit),
    withheld: withheldFrom(app),
    mayChange: visit.may("putGrant"),
  };
  return { title: app.name, view: "app", model };
}
