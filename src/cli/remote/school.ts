import type { NewSchool, School, SchoolId, SchoolUpdate } from "../../directory/index.ts";
import type { SignInSettings } from "../../accounts/index.ts";
import { bodyOf, firstEntries, fromLatest, given, once, tagged, type Remote, type Schemas } from "./remote.ts";

/** Shape: fields in the order in which they are printed. */
const schoolOf = ({ id, name, officialId, schoolingLevel, address, location }: Schemas["AdminSchool"]): School => ({
  name,
  officialId,
  schoolingLevel,
  id: id as SchoolId,
  address,
  location,
});

type Part = { search: string | undefined; after: string | undefined; limit: number };

export async function listSchools({ api }: Remote, { search, after, limit }: Part): Promise<School[]> {
  const read = (page: object) => api.GET("/admin/v1/schools", { params: { query: { ...given({ search }), ...page } } });
  return (await firstEntries(read, { limit, after, idOf: ({ id }) => id })).map(schoolOf);
}

const readSchool = ({ api }: Remote, schoolId: SchoolId) =>
  tagged(api.GET("/admin/v1/schools/{schoolId}", { params: { path: { schoolId } } }));

export const findSchool = async (remote: Remote, schoolId: SchoolId): Promise<School> =>
  schoolOf((await readSchool(remote, schoolId)).record);

export async function createSchool({ api }: Remote, { id: _id, ...body }: NewSchool): Promise<string> {
  return (await bodyOf(api.POST("/admin/v1/schools", { params: once(), body }))).id;
}

/** Shape: in the order in which changes are printed. */
const flat = ({
  name,
  officialId,
  address,
  location,
  schoolingLevel,
}: Schemas["AdminSchool"]): Record<string, unknown> => ({
  name,
  officialId,
  address: address.address,
  addressAddition: address.addressAddition,
  city: address.city,
  zipCode: address.zipCode,
  ...location,
  schoolingLevel,
});

/** Undefined where nothing of it is given. */
function givenPart<Part extends object>(part: Part | undefined) {
  const fields = given(part ?? ({} as Part));
  return Object.keys(fields).length === 0 ? undefined : fields;
}

/** Answers the names of what differs now. */
export async function updateSchool(
  remote: Remote,
  { schoolId, address, location, ...rest }: SchoolUpdate,
): Promise<string[]> {
  const path = { schoolId };
  return fromLatest(async () => {
    const { record: before, ifMatch } = await readSchool(remote, schoolId);
    const body = given({ ...rest, address: givenPart(address), location: givenPart(location) });
    if (Object.keys(body).length === 0) return [];
    await remote.api.PATCH("/admin/v1/schools/{schoolId}", { params: { path, header: ifMatch }, body });
    const after = flat((await readSchool(remote, schoolId)).record);
    return Object.keys(after).filter((name) => after[name] !== flat(before)[name]);
  });
}

/** Changes how people of a school sign in. Shape: `change` makes the new settings of the present ones. */
export async function changeSignIn(
  { api }: Remote,
  schoolId: SchoolId,
  change: (present: SignInSettings) => SignInSettings,
): Promise<SignInSettings> {
  const [address, path] = ["/admin/v1/schools/{schoolId}/sign-in-settings", { schoolId }] as const;
  return fromLatest(async () => {
    const { record, ifMatch } = await tagged(api.GET(address, { params: { path } }));
    const body = change(record);
    await api.PUT(address, { params: { path, header: ifMatch }, body });
    return body;
  });
}
