import type { AdminSchemas } from "../../admin/index.ts";
import { Refused } from "./calls.ts";
import type { PageRequest } from "./page-request.ts";
import type { InlineImage } from "./area.ts";

type Group = AdminSchemas["AdminGroup"];
type Member = AdminSchemas["AdminMember"];

/** More classes, members or schools than a page ever has. */
const most = 1000;
const mostCards = 10;

export const callName = ({ name }: { name: AdminSchemas["PersonName"] }, { t }: Pick<PageRequest, "t">): string =>
  name === null ? t("frame.nameless") : `${name.firstCall} ${name.last}`;

type Told = Pick<AdminSchemas["AdminPerson"], "role" | "groups" | "username" | "sourceSystemIdentifier">;

/** Tells namesakes apart where people are picked: their groups or their role, and their user name or number. */
export function aboutOf(
  { role, groups, username, sourceSystemIdentifier }: Told,
  { t, path }: Pick<PageRequest, "t" | "path">,
): string {
  const here = groups.filter(({ schoolId, status }) => status === "ACTIVE" && schoolId === (path.schoolId ?? schoolId));
  const places = here.length > 0 && role === "STUDENT" ? here.map(({ name }) => name) : [t(`role.${role}`)];
  return [...places, username ?? sourceSystemIdentifier].filter(Boolean).join(" · ");
}

export const pickable = (person: Told & { id: string; name: AdminSchemas["PersonName"] }, request: PageRequest) => ({
  id: person.id,
  name: callName(person, request),
  about: aboutOf(person, request),
});

export const listMembers = ({ call }: PageRequest): Promise<Member[]> =>
  call("listMembers", { query: { limit: most } });

/** A class teacher reads the people of a class only as its members. Errors: Refused for a person who is not in it. */
export async function readMember(request: PageRequest): Promise<Member> {
  const member = (await listMembers(request)).find(({ id }) => id === request.path.personId);
  if (member === undefined) throw new Refused(404, { code: "person_not_found" });
  return member;
}

export const isMemberPage = ({ req, path }: PageRequest): boolean => req.path.includes(`/members/${path.personId}`);

/** The page of the person in their class, or their own page. */
export const personAddress = (request: PageRequest): string =>
  request.at(
    isMemberPage(request)
      ? "/admin/schools/:schoolId/classes/:groupId/members/:personId"
      : "/admin/schools/:schoolId/people/:personId",
  );

export const listGroups = ({ call, path }: PageRequest): Promise<Group[]> =>
  call("listGroups", { query: { school: path.schoolId, limit: most } });

export const onlyClasses = (groups: readonly Group[]): Group[] => groups.filter(({ type }) => type === "KLASSE");

/** The schools of the caller's roles; all for those whose roles reach everything. */
export const listMySchools = async ({
  call,
  me,
  permissions,
}: PageRequest): Promise<readonly AdminSchemas["NamedSchool"][]> =>
  permissions.reachesAll ? call("listSchools", { query: { limit: most } }) : me.schools;

/** Teachers of classes at the page's school who have no role for them; none if the reader may not give roles. */
export async function listProposedTeachers(request: PageRequest) {
  if (request.path.schoolId === undefined || !request.may("giveClassTeacherRoles")) return [];
  const proposed = await request.call("listProposedTeachers", { query: { limit: most } });
  return proposed.map(({ id, name, classes, state }) => ({
    id,
    name: callName({ name }, request),
    classes: classes.map((one) => one.name).join(", "),
    state,
  }));
}

/** Whether the school uses QR codes. */
export const findHasCards = async ({ find }: PageRequest): Promise<boolean> =>
  (await find("getCardSettings"))?.enabled ?? true;

/** The person's login cards at the page's school, latest first; none if the reader may not read them. */
export const listLoginCards = async ({ find, path }: PageRequest): Promise<AdminSchemas["LoginCard"][]> =>
  (await find("listLoginCards", { query: { person: path.personId, limit: mostCards } })) ?? [];

export const schoolLogo = "/admin/schools/:schoolId/logo";

/** Null for a school without a logo, or one that the reader may not see. Errors: Refused. */
export async function findSchoolLogo({ api, path }: PageRequest): Promise<InlineImage | null> {
  const answer = await api.call("getSchoolLogo", { path });
  if (answer.status === 404) return null;
  if (answer.problem !== null) throw new Refused(answer.status, answer.problem);
  const [type, tag] = [answer.headers.get("content-type") ?? "", answer.headers.get("etag") ?? ""];
  return { image: answer.data, type, tag };
}
