import { Refused } from "./refused.ts";
import type { PageRequest } from "./page-request.ts";

export const schoolLogoAddress = ({ param }: PageRequest): string => `/admin/schools/${param("schoolId")}/logo`;

/** Null for a school without a logo, or one that the reader may not see. Errors: Refused. */
export async function findSchoolLogo({
  api,
  param,
}: PageRequest): Promise<{ image: Buffer; type: string; tag: string } | null> {
  const params = { path: { schoolId: param("schoolId") } };
  const { data, error, response } = await api.GET("/admin/v1/schools/{schoolId}/logo", {
    params,
    parseAs: "arrayBuffer",
  });
  if (response.status === 404) return null;
  if (!response.ok) throw new Refused(response.status, error ?? {});
  const [type, tag] = [response.headers.get("content-type") ?? "", response.headers.get("etag") ?? ""];
  return { image: Buffer.from(data as ArrayBuffer), type, tag };
}
