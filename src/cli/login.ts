import { bodyOf, withIdempotencyKey, type Schemas } from "./admin-api.ts";
import { makeApiCommand, type Verbs, type OptionsOf, type Result, type Service } from "./command.ts";
import { tableOf, type Columns } from "./lines.ts";
import { option, required, schoolRoles, UsageError } from "./option.ts";

type MadeLogin = Schemas["NamedLoginSecret"];

const madeColumns: Columns<MadeLogin> = {
  last: ({ name }) => name?.last ?? null,
  "first names": ({ name }) => name?.firstFull ?? null,
  "user name": ({ username }) => username,
  password: ({ password }) => password,
};

const whom = {
  school: required(option.school("The school, which says how its passwords look.")),
  group: option.group("Only the students of this group of the school."),
  role: option.someOf(schoolRoles, "Only these roles; students if left out."),
  all: option.flag("Also for those who have a password: they are signed out everywhere."),
};

const showMade = (made: readonly MadeLogin[]): Result => ({
  table: tableOf(made, madeColumns),
  lines: made.length === 0 ? ["Nobody needs a password."] : ["The passwords are not shown again."],
  quiet: made.map(({ password }) => password),
  data: { logins: made },
});

async function makePasswords({ api }: Service, options: OptionsOf<typeof whom>): Promise<MadeLogin[]> {
  const { school: schoolId, group: groupId, role = ["STUDENT" as const], all } = options;
  const onlyMissing = !all;
  if (groupId === undefined) {
    const params = { path: { schoolId }, ...withIdempotencyKey() };
    return bodyOf(api.POST("/admin/v1/schools/{schoolId}/logins", { params, body: { onlyMissing, roles: role } }));
  }
  if (options.role !== undefined)
    throw new UsageError("--role does not go with --group, of which students get passwords.");
  const path = { groupId };
  const group = await bodyOf(api.GET("/admin/v1/groups/{groupId}", { params: { path } }));
  // Nobody of the school is in a group of another school.
  if (group.schoolId !== schoolId) return [];
  const params = { path, ...withIdempotencyKey() };
  return bodyOf(api.POST("/admin/v1/groups/{groupId}/logins", { params, body: { onlyMissing } }));
}

export const verbs: Verbs = {
  make: makeApiCommand({
    summary:
      "Make passwords for people of a school who have none, or for the students of a group; shown only once. For a file: --output csv.",
    options: whom,
    run: async (service, { options }) => showMade(await makePasswords(service, options)),
  }),
};
