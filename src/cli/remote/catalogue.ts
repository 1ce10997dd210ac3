import type { ClientId } from "../../access/index.ts";
import type { SchoolId } from "../../directory/index.ts";
import type { OfferedApp } from "../catalogue.ts";
import { dateOf, allEntries, given, type Remote } from "../admin-api.ts";

type Asked = { schoolId: SchoolId; search: string | undefined; granted: boolean | undefined };

export async function listCatalogue({ api }: Remote, { schoolId, search, granted }: Asked): Promise<OfferedApp[]> {
  const asked = given({ search, granted });
  const read = (page: object) =>
    api.GET("/admin/v1/schools/{schoolId}/catalogue", { params: { path: { schoolId }, query: { ...asked, ...page } } });
  return (await allEntries(read)).map(({ clientId, grant, lastSignInAt, ...app }) => ({
    ...app,
    clientId: clientId as ClientId,
    lastSignInAt: dateOf(lastSignInAt),
    signOn: grant?.signOn.kind ?? null,
    sync: grant?.sync ?? null,
  }));
}
