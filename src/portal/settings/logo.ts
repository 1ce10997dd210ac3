import {
  findSchoolLogo,
  readImageUpload,
  Refused,
  unwrap,
  type Redirect,
  type InlineImage,
  type PageRequest,
} from "../frame/index.ts";

const logo = "/admin/v1/schools/{schoolId}/logo";
const paramsOf = ({ param }: PageRequest) => ({ path: { schoolId: param("schoolId") } });
const addressOf = ({ param }: PageRequest): string => `/admin/schools/${param("schoolId")}/settings`;

/** Errors: Refused for a school that the reader may not see, and for one without a logo. */
export async function showLogo(request: PageRequest): Promise<InlineImage> {
  const found = await findSchoolLogo(request);
  if (found === null) throw new Refused(404, { code: "logo_not_found" });
  return found;
}

export async function putLogo(request: PageRequest): Promise<Redirect> {
  const bytes = await readImageUpload(request);
  const sent = request.api.PUT(logo, {
    params: paramsOf(request),
    // The API detects the real type from the bytes.
    headers: { "Content-Type": "image/png" },
    body: bytes as never,
    bodySerializer: (body: unknown) => body as never,
  });
  await unwrap(sent);
  return { to: addressOf(request), done: "logoKept" };
}

export async function removeLogo(request: PageRequest): Promise<Redirect> {
  await unwrap(request.api.DELETE(logo, { params: paramsOf(request) }));
  return { to: addressOf(request), done: "logoRemoved" };
}
