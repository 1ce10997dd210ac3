import {
  findSchoolLogo,
  readImageUpload,
  Refused,
  take,
  type Gone,
  type Pictured,
  type Visit,
} from "../frame/index.ts";

const logo = "/admin/v1/schools/{schoolId}/logo";
const paramsOf = ({ part }: Visit) => ({ path: { schoolId: part("schoolId") } });
const addressOf = ({ part }: Visit): string => `/admin/schools/${part("schoolId")}/settings`;

/** The logo itself. Errors: Refused for a school that the reader does not see, and for one without a logo. */
export async function showLogo(visit: Visit): Promise<Pictured> {
  const found = await findSchoolLogo(visit);
  if (found === null) throw new Refused(404, { code: "logo_not_found" });
  return found;
}

export async function putLogo(visit: Visit): Promise<Gone> {
  const bytes = await readImageUpload(visit);
  const sent = visit.api.PUT(logo, {
    params: paramsOf(visit),
    // What it is, is read from its bytes.
    headers: { "Content-Type": "image/png" },
    body: bytes as never,
    bodySerializer: (body: unknown) => body as never,
  });
  await take(sent);
  return { to: addressOf(visit), done: "logoKept" };
}

export async function removeLogo(visit: Visit): Promise<Gone> {
  await take(visit.api.DELETE(logo, { params: paramsOf(visit) }));
  return { to: addressOf(visit), done: "logoRemoved" };
}
