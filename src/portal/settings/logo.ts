import { findSchoolLogo, postAndRedirect, readImageUpload, Refused, unwrap } from "../frame/index.ts";
import type { InlineImage, PageRequest, Redirect } from "../frame/index.ts";
import { settingsAddress } from "./settings.ts";

const logo = "/admin/v1/schools/{schoolId}/logo";

/** Errors: Refused for a school that the reader may not see, and for one without a logo. */
export async function showLogo(request: PageRequest): Promise<InlineImage> {
  const found = await findSchoolLogo(request);
  if (found === null) throw new Refused(404, { code: "logo_not_found" });
  return found;
}

export async function putLogo(request: PageRequest): Promise<Redirect> {
  const { api, path } = request;
  await unwrap(api.PUT(logo, { params: { path }, ...(await readImageUpload(request)) }));
  return { to: settingsAddress(request), done: "logoKept" };
}

export const removeLogo = postAndRedirect("logoRemoved", settingsAddress, ({ api, path }) =>
  api.DELETE(logo, { params: { path } }),
);
