import type { InlineImage } from "./area.ts";
import { Refused } from "./refused.ts";
import type { PageRequest } from "./page-request.ts";

export const schoolLogoAddress = ({ path }: PageRequest): string => `/admin/schools/${path.schoolId}/logo`;

/** Null for a school without a logo, or one that the reader may not see. Errors: Refused. */
export async function findSchoolLogo({ api, path }: PageRequest): Promise<InlineImage | null> {
  const { data, error, response } = await api.GET("/admin/v1/schools/{schoolId}/logo", {
    params: { path },
    parseAs: "arrayBuffer",
  });
  if (response.status === 404) return null;
  if (!response.ok) throw new Refused(response.status, error ?? {});
  const [type, tag] = [response.headers.get("content-type") ?? "", response.headers.get("etag") ?? ""];
  return { image: Buffer.from(data as ArrayBuffer), type, tag };
}
